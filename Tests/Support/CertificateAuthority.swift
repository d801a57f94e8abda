/// A certificate authority that only the test trusts. openssl(1) creates it; it is removed with its
/// scope.
///
///     let authority = try await CertificateAuthority(in: scope)
///     let nginx = try await Nginx(serving: ["/": root], tls: authority.issue(), in: scope)
///     // clients verify with authority.certificate
public struct CertificateAuthority: Sendable {
    /// A server's certificate and its private key, as paths of PEM files.
    public struct Identity: Sendable {
        public let certificate: String
        public let key: String
    }

    /// The path of the authority's own certificate (PEM), which a client must trust.
    public let certificate: String
    private let key: String
    private let directory: TemporaryDirectory

    public init(in scope: TestScope) async throws {
        directory = try TemporaryDirectory(in: scope)
        certificate = directory.file("ca.pem")
        key = directory.file("ca.key")
        try await runSuccessfully(
            "openssl",
            [
                "req", "-x509", "-days", "2", "-subj", "/CN=cached test authority",
                "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-out", certificate,
            ] + Self.newKey(key))
    }

    /// Issues a server certificate.
    ///
    /// - Parameters:
    ///   - names: the subject alternative names, in openssl's syntax (x509v3_config(5)).
    ///   - days: the validity; 0 for a certificate that has expired.
    ///   - commonName: the name in the subject, which nobody should read.
    ///   - key: the arguments of openssl-req(1) for the key.
    public func issue(
        for names: [String] = ["DNS:localhost", "IP:127.0.0.1", "IP:::1"], days: Int = 2,
        commonName: String? = nil, key kind: [String] = ellipticKey
    ) async throws -> Identity {
        let stem = "server-\(try directory.names().count)"
        let identity = Identity(
            certificate: directory.file("\(stem).pem"), key: directory.file("\(stem).key"))
        let request = directory.file("\(stem).csr")
        let extensions = try directory.write(
            (names.isEmpty ? "" : "subjectAltName=\(names.joined(separator: ","))\n")
                + "extendedKeyUsage=serverAuth\n",
            to: "\(stem).ext")
        try await runSuccessfully(
            "openssl",
            ["req", "-subj", "/CN=\(commonName ?? stem)", "-out", request]
                + Self.newKey(identity.key, kind))
        try await runSuccessfully(
            "openssl",
            [
                "x509", "-req", "-days", "\(days)", "-in", request, "-extfile", extensions,
                "-CA", certificate, "-CAkey", key, "-CAcreateserial", "-out", identity.certificate,
            ])
        return identity
    }

    /// A key on the curve P-256.
    public static let ellipticKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]

    private static func newKey(_ path: String, _ kind: [String] = ellipticKey) -> [String] {
        kind + ["-nodes", "-keyout", path]
    }
}
