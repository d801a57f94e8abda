/// An origin that speaks HTTP/2 as a test scripts it, frame by frame if need be. Python's h2 has the protocol.
///
///     let origin = try await HTTP2Origin(
///         identity, image, """
///             c.head(stream, ('content-length', str(len(image))))
///             c.data(stream, image, end=False)
///             c.reset(stream, 0)
///             """, fallback: scripted, in: scope)
///
/// Clients that ask for HTTP/1.1 are relayed to the scripted origin.
public struct HTTP2Origin: Sendable {
    public let port: Int
    private let process: ChildProcess

    /// - Parameters:
    ///   - image: the bytes that the script calls `image`.
    ///   - script: Python statements that answer one request. `c` is the connection and `c.number` its number, from 1;
    ///     `c.fields` are the fields of the request. `stream` is the number of the stream, `path` the requested path, and
    ///     `number` counts the requests of all connections, from 1.
    ///   - streams: the streams that a connection may have at once (SETTINGS_MAX_CONCURRENT_STREAMS, RFC 9113 §6.5.2).
    public init(
        _ identity: CertificateAuthority.Identity, _ image: [UInt8], _ script: String,
        streams: Int = 100, fallback: ScriptedOrigin? = nil, in scope: TestScope
    ) async throws {
        let (reservation, port) = try Socket.reserveLoopbackPort()
        defer { reservation.close() }
        self.port = port
        let file = try TemporaryDirectory(in: scope).write(image, to: "image")
        let lines = script.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
        process = try ChildProcess(
            "/usr/bin/python3",
            [
                "-c",
                "def answer(c, stream, path, number, image):\n\(lines)\n\(TLSTerminator.relay)\n\(Self.program)",
                identity.certificate, identity.key, "\(port)", "\(fallback?.port ?? 0)",
                "\(streams)", file,
            ], in: scope)
        try await process.waitForLine(containing: "listening", on: .standardOutput)
    }

    public func url(_ path: String, host: String = "127.0.0.1") -> String {
        "https://\(host):\(port)/\(path)"
    }

    /// The requests by HTTP/2 so far.
    public var requests: [Substring] {
        process.text(.standardOutput).split(separator: "\n").filter { $0.hasPrefix("asked ") }
    }

    /// The number of connections so far that agreed on HTTP/2.
    public var connections: Int {
        process.text(.standardOutput).split(separator: "\n").filter { $0 == "connected" }.count
    }

    private static let program = """
        import h2.config, h2.connection, h2.events, itertools, ssl, sys, time
        certificate, key, port, fallback, streams, file = sys.argv[1:7]
        image = open(file, 'rb').read()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols(['h2', 'http/1.1'])
        numbers, requests, lock = itertools.count(1), itertools.count(1), threading.Lock()

        def say(text):
            with lock: print(text, flush=True)

        class Connection:
            def __init__(self, client):
                self.client, self.number = client, next(numbers)
                self.h = h2.connection.H2Connection(h2.config.H2Configuration(
                    client_side=False, validate_outbound_headers=False, normalize_outbound_headers=False))
                self.h.local_settings = h2.settings.Settings(client=False, initial_values={3: int(streams)})
                self.h.initiate_connection()
            def flush(self): self.client.sendall(self.h.data_to_send())
            def head(self, stream, *fields, status=200, end=False):
                self.h.send_headers(stream, [(':status', str(status)), *fields], end_stream=end)
                self.flush()
            def data(self, stream, body, end=True):
                for start in range(0, len(body), 8192):
                    self.h.send_data(stream, body[start:start + 8192], end and start + 8192 >= len(body))
                    self.flush()
            def raw(self, kind, flags, stream, payload):
                self.flush()
                self.client.sendall(
                    len(payload).to_bytes(3, 'big') + bytes([kind, flags]) + stream.to_bytes(4, 'big') + payload)
            def reset(self, stream, code): self.raw(3, 0, stream, code.to_bytes(4, 'big'))
            def goaway(self, last, code=0): self.raw(7, 0, 0, last.to_bytes(4, 'big') + code.to_bytes(4, 'big'))
            def serve(self):
                self.flush()
                while data := self.client.recv(65536):
                    for event in self.h.receive_data(data):
                        if isinstance(event, h2.events.RequestReceived):
                            path, number = dict(event.headers)[b':path'].decode(), next(requests)
                            say(f'asked {self.number} {event.stream_id} {path}')
                            self.fields = event.headers
                            answer(self, event.stream_id, path, number, image)
                    self.flush()

        def serve(plain):
            try:
                client = context.wrap_socket(plain, server_side=True)
                if client.selected_alpn_protocol() == 'h2':
                    say('connected')
                    Connection(client).serve()
                else:
                    server = socket.create_connection(('127.0.0.1', int(fallback)))
                    threading.Thread(target=relay, args=(client, server), daemon=True).start()
                    relay(server, client)
            except (OSError, h2.exceptions.ProtocolError): pass
            finally: plain.close()

        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(('127.0.0.1', int(port)))
        listener.listen(100)
        say('listening')
        while True:
            plain, _ = listener.accept()
            threading.Thread(target=serve, args=(plain,), daemon=True).start()
        """
}
