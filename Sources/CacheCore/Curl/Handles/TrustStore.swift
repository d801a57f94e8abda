/// The certificates of authorities that downloads trust.
public struct TrustStore: Sendable, Hashable {
    /// A file of certificates.
    public var file: String?
    /// A directory of certificates, in addition to the file.
    public var directory: String?
}

extension TrustStore {
    /// The certificates that libcurl trusts by default.
    private static let usual = CurlEasy().trustStore

    init(_ settings: TransferSettings) {
        file = settings.certificateFile ?? Self.usual.file
        directory = settings.trustsOnlyCertificateFile ? nil : Self.usual.directory
    }
}
