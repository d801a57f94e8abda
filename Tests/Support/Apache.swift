import Glibc

/// A real Apache httpd serving a directory on a loopback port, with HTTP/2 as its packages offer it:
/// each response by HTTP/1.1 says so in `Upgrade` and `Connection`.
public struct Apache: Sendable {
    public let port: Int

    /// Starts Apache and waits until it serves.
    public init(serving files: [String: [UInt8]], in scope: TestScope) async throws {
        let directory = try TemporaryDirectory(in: scope)
        // As root, Apache serves as another user.
        for path in [directory.path, try directory.directory("files")] {
            guard chmod(path, 0o755) == 0 else { throw TestFailure("\(path): chmod") }
        }
        for (name, bytes) in files {
            let file = try directory.write(bytes, to: "files/\(name)")
            guard chmod(file, 0o644) == 0 else { throw TestFailure("\(file): chmod") }
        }
        let (reservation, port) = try Socket.reserveLoopbackPort()
        defer { reservation.close() }
        self.port = port
        let modules = ["mpm_event", "authz_core", "http2"].map {
            "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so"
        }
        let file = try directory.write(
            """
            \(modules.joined(separator: "\n"))
            ServerName localhost
            Listen 127.0.0.1:\(port)
            ListenCoresBucketsRatio 8
            PidFile "\(directory.path)/pid"
            DefaultRuntimeDir "\(directory.path)"
            ErrorLog /dev/stderr
            \(getuid() == 0 ? "User nobody\nGroup nogroup" : "")
            DocumentRoot "\(directory.path)/files"
            Protocols h2 h2c http/1.1

            """, to: "httpd.conf")
        let process = try ChildProcess(
            "/usr/sbin/apache2", ["-DFOREGROUND", "-d", directory.path, "-f", file], in: scope)
        try await process.waitForLine(containing: "resuming normal operations")
    }
}
