internal import CacheKey
import HTTPCaching

/// Where the objects of a store are: the bucket, the prefix of their keys, and the server.
public struct StoreLocation: Hashable, Sendable {
    /// Where the bucket's name is in a URL.
    public enum Style: String, Hashable, Sendable, CaseIterable {
        /// `https://server/bucket/key`
        case path
        /// `https://bucket.server/key`
        case virtual
    }

    /// The part of a location that is wrong, and its permitted form.
    public struct Problem: Error, Hashable, Sendable {
        /// Whether the endpoint is wrong, rather than the location of the bucket.
        public let isAboutEndpoint: Bool
        public let expected: String
    }

    public let bucket: String
    /// Without slashes at its ends. Empty if there is none.
    public let prefix: String
    /// The scheme, host and port of the server, without the bucket.
    public let endpoint: String
    public let region: String
    public let style: Style

    /// - Parameters:
    ///   - text: `s3://BUCKET[/PREFIX]`.
    ///   - endpoint: `https://HOST[:PORT]`. `nil` for AWS.
    ///   - style: `nil` for the usual one of the server.
    public init(_ text: String, endpoint: String?, region: String, style: Style?) throws(Problem) {
        guard text.hasPrefix("s3://") else {
            throw Problem(isAboutEndpoint: false, expected: "a location like s3://BUCKET/PREFIX")
        }
        let parts = text.dropFirst(5).split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        bucket = try Self.bucket(parts.first.map(String.init) ?? "")
        prefix = try Self.prefix(parts.count > 1 ? String(parts[1]) : "")
        self.region = region
        self.endpoint =
            try endpoint.map { (text) throws(Problem) in try Self.endpoint(text) }
            ?? "https://s3.\(region).amazonaws.com"
        let isAWS = self.endpoint.hasSuffix(".amazonaws.com")
        self.style = style ?? (isAWS && !bucket.contains(".") ? .virtual : .path)
    }

    /// The rules of all stores. Docs of AWS, "Bucket naming rules".
    private static func bucket(_ text: String) throws(Problem) -> String {
        let form = /[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/
        guard text.wholeMatch(of: form) != nil, !text.contains("..") else {
            throw Problem(
                isAboutEndpoint: false,
                expected: "a location with a bucket of 3 to 63 of a-z, 0-9, . and -, like "
                    + "s3://images; its bucket is \"\(text)\"")
        }
        return text
    }

    /// Other characters are signed wrongly by some versions of libcurl.
    private static func prefix(_ text: String) throws(Problem) -> String {
        let prefix = text.hasSuffix("/") ? String(text.dropLast()) : text
        let form = /[a-z0-9-]+(?:\/[a-z0-9-]+)*/
        guard prefix.isEmpty || prefix.utf8.count <= 512 && prefix.wholeMatch(of: form) != nil
        else {
            throw Problem(
                isAboutEndpoint: false,
                expected: "a location with a prefix of a-z, 0-9, - and /; its prefix is \"\(text)\""
            )
        }
        return prefix
    }

    private static func endpoint(_ text: String) throws(Problem) -> String {
        let form = /https?:\/\/(?:\[[0-9A-Fa-f:.]+\]|[^:\/@?#\[\]\s\\]+)(?::([0-9]{1,5}))?\/?/
        guard let match = text.wholeMatch(of: form),
            match.1.map({ 1...65535 ~= Int($0) ?? 0 }) ?? true
        else {
            throw Problem(
                isAboutEndpoint: true,
                expected: "an address like https://HOST:PORT, without user, path and query")
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    // MARK: Objects

    /// Machines with another version of the record have a folder of their own, and so none takes another's objects for wrong.
    private var folder: String { (prefix.isEmpty ? "" : prefix + "/") + EntryRecord.textVersion }

    /// The name of an image's object in the bucket.
    func objectName(of key: CacheKey) -> String {
        let name = key.description
        return "\(folder)/\(name.prefix(2))/\(name)"
    }

    /// The URL of the object by which a machine tells that it puts images here.
    var markURL: String { url(ofObject: folder + "/cached") }

    /// The URL of an image's object.
    func url(of key: CacheKey) -> String { url(ofObject: objectName(of: key)) }

    func url(ofObject name: String) -> String {
        switch style {
        case .path: return "\(endpoint)/\(bucket)/\(name)"
        case .virtual:
            let parts = endpoint.split(separator: "/", maxSplits: 1)
            return "\(parts[0])//\(bucket).\(parts[1].drop { $0 == "/" })/\(name)"
        }
    }

    /// Whether requests cross the network without TLS, so that whoever listens there sees the images.
    public var isOpenToListeners: Bool {
        guard endpoint.hasPrefix("http://") else { return false }
        let host = endpoint.dropFirst(7).prefix { $0 != ":" && $0 != "/" }
        if endpoint.hasPrefix("http://[") { return !endpoint.hasPrefix("http://[::1]") }
        guard host != "localhost", let address = IPAddress(String(host)) else {
            return host != "localhost"
        }
        // Private networks count as one's own.
        return AddressPolicy().permits(address)
    }

    /// The location as people write it.
    public var description: String { "s3://\(bucket)\(prefix.isEmpty ? "" : "/\(prefix)")" }
}
