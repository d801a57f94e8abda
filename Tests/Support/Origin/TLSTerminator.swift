/// A TLS endpoint in front of a scripted origin. It relays the decrypted bytes unchanged, which no
/// ordinary reverse proxy does.
///
/// A client that negotiates HTTP/2 always gets the same frames (RFC 9113 §4.1).
public struct TLSTerminator: Sendable {
    public let port: Int

    /// - Parameter frames: the frames sent to HTTP/2 clients. If empty, the connection ends at the first
    ///   request; if `nil`, HTTP/2 is not offered.
    /// - Parameter flood: a frame that is sent after the others again and again, as fast as the client reads.
    public init(
        _ identity: CertificateAuthority.Identity, to origin: ScriptedOrigin,
        frames: [[UInt8]]? = nil, flood: [UInt8] = [], in scope: TestScope
    ) async throws {
        let (reservation, port) = try Socket.reserveLoopbackPort()
        defer { reservation.close() }
        self.port = port
        let process = try ChildProcess(
            "python3",
            [
                "-c", Self.relay + "\n" + Self.program, identity.certificate, identity.key,
                "\(port)",
                "\(origin.port)", frames == nil ? "http/1.1" : "h2", Self.hexadecimal(flood),
            ] + (frames ?? []).map(Self.hexadecimal),
            in: scope)
        try await process.waitForLine(containing: "listening", on: .standardOutput)
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    public func url(_ path: String) -> String { "https://127.0.0.1:\(port)/\(path)" }

    /// Passes bytes on in one direction.
    static let relay = """
        import socket, threading

        def relay(source, sink):
            try:
                while data := source.recv(65536): sink.sendall(data)
                sink.shutdown(socket.SHUT_RDWR)
            except OSError: pass
        """

    private static let program = """
        import ssl, sys, time
        certificate, key, port, origin, protocol, flood = sys.argv[1:7]
        flood = bytes.fromhex(flood)
        frames = [bytes.fromhex(frame) for frame in sys.argv[7:]]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols([protocol, 'http/1.1'])
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(('127.0.0.1', int(port)))
        listener.listen(100)
        print('listening', flush=True)

        def serve(plain):
            try:
                client = context.wrap_socket(plain, server_side=True)
                if client.selected_alpn_protocol() == 'h2':
                    client.sendall(bytes.fromhex('000000040000000000'))
                    # The frame that opens stream 1: END_HEADERS and END_STREAM, maybe PRIORITY.
                    asked = b''
                    while b'\\x01\\x05\\0\\0\\0\\x01' not in asked and b'\\x01\\x25\\0\\0\\0\\x01' not in asked:
                        data = client.recv(65536)
                        if not data: return
                        asked += data
                    if not frames: return
                    for frame in frames:
                        client.sendall(frame)
                        time.sleep(0.2)
                    while flood: client.sendall(flood)
                    while client.recv(65536): pass
                else:
                    server = socket.create_connection(('127.0.0.1', int(origin)))
                    threading.Thread(target=relay, args=(client, server), daemon=True).start()
                    relay(server, client)
            except OSError: pass

        while True:
            plain, _ = listener.accept()
            threading.Thread(target=serve, args=(plain,), daemon=True).start()
        """
}
