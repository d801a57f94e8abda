/// A real nginx serving directories on a loopback port.
///
///     let nginx = try await Nginx(serving: ["/": "/usr/share/backgrounds/mate"], in: scope)
///     nginx.url("abstract/Flow.png")
///
/// One process in the foreground, with all its files in a temporary directory. It runs as root and as
/// any other user. The port stays reserved until nginx listens on it, so that no other test takes it.
public struct Nginx: Sendable {
    public let port: Int
    /// The process, for example to kill it or to read its log.
    public let process: ChildProcess
    private let isTLS: Bool

    /// Starts nginx and waits until it serves.
    ///
    /// - Parameters:
    ///   - roots: URL path prefix → the directory served there.
    ///   - limitRate: bytes per second, for each connection (`limit_rate`).
    ///   - tls: a certificate; with one the server speaks only TLS, and HTTP/2 to clients that ask for it.
    ///   - http2: whether the server offers HTTP/2 at all.
    ///   - extra: additional lines for the `server` block.
    public init(
        serving roots: [String: String], limitRate: Int? = nil,
        tls: CertificateAuthority.Identity? = nil, http2: Bool = true, extra: String = "",
        in scope: TestScope
    ) async throws {
        let directory = try TemporaryDirectory(in: scope)
        let (reservation, port) = try Socket.reserveLoopbackPort()
        defer { reservation.close() }
        let configuration = Configuration(
            port: port, roots: roots, limitRate: limitRate, tls: tls, http2: http2,
            extra: extra)
        let file = try directory.write(configuration.text, to: "nginx.conf")
        self.port = port
        isTLS = tls != nil
        process = try ChildProcess(
            "nginx", ["-p", directory.path, "-c", file, "-e", "stderr"], in: scope)
        // Logged once nginx listens, and never if the configuration is wrong.
        try await process.waitForLine(containing: "event method")
    }

    /// The URL of a path below one of the prefixes.
    public func url(_ path: String, host: String = "127.0.0.1") -> String {
        let relative = path.hasPrefix("/") ? path.dropFirst() : path[...]
        return "\(isTLS ? "https" : "http")://\(host):\(port)/\(relative)"
    }

    /// The log of nginx: errors, and a line `GET /path 200 HTTP/1.1 CONNECTION` for each request.
    public var log: String {
        process.text(.standardOutput) + process.text(.standardError)
    }
}

/// The variable parts of an nginx.conf(5).
private struct Configuration {
    let port: Int
    let roots: [String: String]
    let limitRate: Int?
    let tls: CertificateAuthority.Identity?
    let http2: Bool
    let extra: String

    var text: String {
        """
        daemon off;
        master_process off;
        pid nginx.pid;
        error_log stderr notice;
        events { worker_connections 1024; }
        http {
            log_format short "$request_method $request_uri $status $server_protocol $connection";
            access_log /dev/stdout short;
            types {
                image/png png; image/jpeg jpg jpeg; image/gif gif; image/webp webp;
                image/svg+xml svg; image/avif avif; image/x-icon ico; text/html html;
            }
            client_body_temp_path body;
            proxy_temp_path proxy;
            fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi;
            scgi_temp_path scgi;
            sendfile on;
            tcp_nodelay on;
            keepalive_requests 100000;
            \(limitRate.map { "limit_rate \($0);" } ?? "")
            server {
                listen 127.0.0.1:\(port) reuseport\(protocols);
                \(tls.map { "ssl_certificate \"\($0.certificate)\";" } ?? "")
                \(tls.map { "ssl_certificate_key \"\($0.key)\";" } ?? "")
                \(extra)
                \(locations)
            }
        }

        """
    }

    private var protocols: String {
        tls == nil ? "" : http2 ? " ssl http2" : " ssl"
    }

    private var locations: String {
        roots.map { prefix, directory in
            let prefix = prefix.hasSuffix("/") ? prefix : prefix + "/"
            return "location \"\(prefix)\" { alias \"\(directory)/\"; }"
        }.joined(separator: "\n        ")
    }
}
