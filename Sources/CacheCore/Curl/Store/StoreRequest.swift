import CacheFetching
import CacheValues
import HTTPCaching

/// The parts that a request to a store has, and one to an origin has not: a method, a signature, and perhaps a body.
struct StoreRequest {
    enum Method {
        case get
        case head
        case delete
        /// Sends the bytes of a file, whose digest is known.
        case put(UploadedFile, digest: String)
        /// Sends nothing: the store copies the object onto itself, with new fields.
        case copy
    }

    var method: Method
    /// `nil` for a public bucket.
    let credentials: StoreCredentials?
    let region: String
    /// The time until the answer has to be there. `nil` for the limits of the settings.
    var patience: StorePatience?
    /// Bytes of the body a second. `nil` for no limit.
    var rate: Int64?

    /// SHA-256 of no bytes.
    private static let emptyDigest =
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// The fields that a signature needs. libcurl 7.88 sends no digest by itself.
    var fields: [RequestField] {
        guard let credentials else { return [] }
        var digest = Self.emptyDigest
        if case .put(_, let own) = method { digest = own }
        var fields = [RequestField(name: "x-amz-content-sha256", value: digest)]
        if let token = credentials.token {
            fields.append(RequestField(name: "x-amz-security-token", value: token))
        }
        return fields
    }
}
