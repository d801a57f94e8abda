import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Bytes of a connection that are neither head nor body of a response.
@Suite("Cache: bytes off the wire", .timeLimit(.minutes(2)))
struct WireBudgetTests {
    private static let image = SampleImage.png(byteCount: 30_000)

    /// Frames of an unknown type have to be ignored (RFC 9113 §5.5), and empty frames of DATA are allowed.
    @Test(arguments: [
        [0, 0x40, 0, 0xFA, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 16_384),
        // DATA of stream 1 with the longest padding and no bytes.
        [0, 1, 0, 0, 8, 0, 0, 0, 1, 0xFF] + [UInt8](repeating: 0, count: 255),
    ])
    func aFloodOfFramesByHTTP2EndsTheDownload(flood: [UInt8]) async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let front = try await TLSTerminator(
                authority.issue(), to: origin,
                frames: [
                    // HEADERS: `:status: 200`, and DATA, both of stream 1.
                    [0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88],
                    [0, 0x20, 0, 0, 0, 0, 0, 0, 1] + Self.image.prefix(8192),
                ], flood: flood, in: scope)
            let fixture = try CacheFixture(in: scope, origin: origin) {
                $0.transfers.certificateFile = authority.certificate
            }
            for path in ["a.png", "b.png"] {
                let imageRequest = ImageRequest(try CacheURL(front.url(path)))
                let outcome = try await fixture.outcome(
                    of: fixture.cache.fetch([imageRequest], FetchOptions()))
                let failure = try #require(outcome.failures.values.first)
                #expect(failure.kind == .protocolError)
                #expect(failure.message.contains("far more bytes"))
            }
        }
    }

    /// Frames of an unknown type without a payload: libcurl reads them in one call that does not come back.
    @Test func smallFramesWithoutEndHoldNobody() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/good.png", .answer(body: Self.image))
            let frame: [UInt8] = [0, 0, 0, 0xFA, 0, 0, 0, 0, 0]
            let front = try await TLSTerminator(
                authority.issue(), to: origin,
                frames: [[0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88]],
                flood: Array(repeatElement(frame, count: 4000).joined()), in: scope)
            let fixture = try CacheFixture(in: scope, origin: origin) {
                $0.transfers.certificateFile = authority.certificate
            }
            let request = ImageRequest(try CacheURL(front.url("a.png")))
            let waiter = fixture.cache.fetch([request], FetchOptions())
            for number in 0..<5 {
                #expect(try await fixture.fetch("/good.png?\(number)").failures.isEmpty)
            }
            let failure = try #require(
                try await fixture.outcome(of: waiter).failures.values.first)
            #expect(failure.kind == .protocolError)
            #expect(failure.message.contains("far more bytes"))
        }
    }

    /// OpenSSL reads the messages by which a server changes its key in one call, and each needs some computing (RFC 8446
    /// §4.6.3).
    @Test func newKeysWithoutEndHoldNobody() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let identity = try await authority.issue()
            let server = try ChildProcess(
                "python3", ["-c", Self.newKeys, identity.certificate, identity.key], in: scope)
            let line = try await server.waitForLine(containing: "port", on: .standardOutput)
            let port = line.dropFirst("port ".count)
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/good.png", .answer(body: Self.image))
            let fixture = try CacheFixture(in: scope, origin: origin) {
                $0.transfers.certificateFile = authority.certificate
            }
            let request = ImageRequest(try CacheURL("https://127.0.0.1:\(port)/a.png"))
            let waiter = fixture.cache.fetch([request], FetchOptions())
            try await server.waitForLine(containing: "floods", on: .standardOutput)
            for number in 0..<5 {
                #expect(try await fixture.fetch("/good.png?\(number)").failures.isEmpty)
            }
            try await server.waitForLine(containing: "ended", on: .standardOutput)
            fixture.cache.leave(waiter)
        }
    }

    /// A server with one connection. The `ssl` of Python cannot send such messages.
    private static let newKeys = """
        import ctypes, socket, sys
        ssl = ctypes.CDLL("libssl.so.3")
        for name in ("TLS_server_method", "SSL_CTX_new", "SSL_new"):
            getattr(ssl, name).restype = ctypes.c_void_p
        context = ctypes.c_void_p(ssl.SSL_CTX_new(ctypes.c_void_p(ssl.TLS_server_method())))
        assert ssl.SSL_CTX_use_certificate_chain_file(context, sys.argv[1].encode()) == 1
        assert ssl.SSL_CTX_use_PrivateKey_file(context, sys.argv[2].encode(), 1) == 1
        listener = socket.create_server(("127.0.0.1", 0))
        print("port", listener.getsockname()[1], flush=True)
        client = listener.accept()[0]
        listener.close()
        connection = ctypes.c_void_p(ssl.SSL_new(context))
        ssl.SSL_set_fd(connection, client.fileno())
        assert ssl.SSL_accept(connection) == 1
        assert ssl.SSL_read(connection, ctypes.create_string_buffer(4096), 4096) > 0
        head = b"HTTP/1.1 200 OK\\r\\nContent-Length: 9000\\r\\n\\r\\n"
        ssl.SSL_write(connection, head, len(head))
        print("floods", flush=True)
        while ssl.SSL_key_update(connection, 0) == 1 and ssl.SSL_do_handshake(connection) == 1: pass
        print("ended", flush=True)
        """

    /// Streams share a connection: a large image is not the framing of another one that has not begun.
    @Test func aLargeImageIsNoFramingOfAnother() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let folder = try TemporaryDirectory(in: scope)
            // More bytes around the image than an honest connection has.
            try folder.write(SampleImage.png(byteCount: 20_000_000), to: "large.png")
            let gate = try Gate()
            let origin = try ScriptedOrigin(in: scope)
            origin.route(
                "/slow.png",
                OriginScript([.wait(gate)] + OriginScript.answer(body: Self.image).steps))
            let nginx = try await Nginx(
                serving: ["/": folder.path], tls: authority.issue(),
                extra: "location = /slow.png { proxy_pass \(origin.url("/slow.png")); }", in: scope)
            let fixture = try CacheFixture(in: scope, origin: origin) {
                $0.transfers.certificateFile = authority.certificate
            }
            let slow = fixture.cache.fetch(
                [ImageRequest(try CacheURL(nginx.url("slow.png")))], FetchOptions())
            try await gate.reached()
            let imageRequest = ImageRequest(try CacheURL(nginx.url("large.png")))
            let large = fixture.cache.fetch([imageRequest], FetchOptions())
            #expect(try await fixture.outcome(of: large).failures.isEmpty)
            gate.open()
            #expect(try await fixture.outcome(of: slow).failures.isEmpty)
            // They had one connection.
            let connections = Set(
                nginx.log.split(separator: "\n").filter { $0.hasPrefix("GET ") }
                    .compactMap { $0.split(separator: " ").last })
            #expect(connections.count == 1)
        }
    }
}
