import CacheCore
import CacheKey
import CacheValues
import CacheWire

/// One of the URLs that a call names, as the client wrote it.
struct RequestedURL: Sendable {
    /// The meaning of the text.
    enum Meaning: Sendable {
        case image(ImageRequest)
        /// An entry that was named by the digest of its bytes, or by its key.
        case content(CacheKey)
        /// Neither. The failure says why.
        case nothing(CacheValues.Failure)
    }

    let text: String
    let meaning: Meaning

    init(_ text: String, _ meaning: Meaning) {
        (self.text, self.meaning) = (text, meaning)
    }

    init(_ request: ImageRequest) {
        self.init(request.url.string, .image(request))
    }

    /// The URL with its key; `nil` if the text is not a URL.
    var valid: ImageRequest? {
        guard case .image(let request) = meaning else { return nil }
        return request
    }

    /// The key of the image; `nil` if the text stands for none.
    ///
    /// The optimizer of Swift 6.3.1 fails ("Found ownership error") if it puts this into other functions.
    @inline(never)
    var key: CacheKey? {
        switch meaning {
        case .image(let request): request.key
        case .content(let key): key
        case .nothing: nil
        }
    }
}

extension RequestedURL {
    /// The key of the image, and those of the images that are derived from it. Empty if the text stands for none.
    var withSizes: [CacheKey] {
        guard let name = valid?.name, name.side == nil else { return key.map { [$0] } ?? [] }
        // A URL that leaves no room for a fragment has no sizes.
        return [CacheKey(name)]
            + CacheURL.sides.compactMap { try? name.derived(side: $0) }.map { CacheKey($0) }
    }

    /// Begins a text that names an image by the digest of its bytes.
    static let digestPrefix = "sha256:"

    /// The digest in a text like `sha256:4fd5a2…`; `nil` if the text does not begin like that.
    static func digest(in text: String) -> Result<ContentDigest, CacheValues.Failure>? {
        guard text.hasPrefix(digestPrefix) else { return nil }
        guard let digest = ContentDigest(String(text.dropFirst(digestPrefix.count))) else {
            return .failure(
                CacheValues.Failure(
                    .invalidURL, "64 hexadecimal digits have to follow \(digestPrefix)"))
        }
        return .success(digest)
    }
}

extension ServerContext {
    /// Reads a text of a call.
    ///
    /// - Parameters:
    ///   - key: the URL that names the image, if the client says so.
    ///   - fields: the header fields of an account.
    ///   - also: other URLs of the image.
    func named(
        _ text: String, by key: String? = nil, fields: [RequestField] = [], also: [String] = []
    ) -> RequestedURL {
        if let digest = RequestedURL.digest(in: text) {
            return RequestedURL(text, meaning(of: digest))
        }
        let url: CacheURL
        do {
            url = try CacheURL(text)
        } catch {
            return RequestedURL(text, .nothing(CacheValues.Failure(.invalidURL, error.description)))
        }
        do {
            let given = try key.map { (text) throws(InvalidURL) in try CacheURL(text) } ?? url
            let name = cache.ignoredQueries.name(of: given)
            guard name.account == nil || !whereabouts.shared else {
                return RequestedURL(text, .nothing(.accountOfShared))
            }
            let also = try also.map { (text) throws(InvalidURL) in try CacheURL(text) }
            return RequestedURL(
                text, .image(ImageRequest(url, named: name, fields: fields, also: also)))
        } catch {
            return RequestedURL(
                text,
                .nothing(
                    CacheValues.Failure(
                        .invalidURL, "its key or one of also is not a URL: \(error.description)")))
        }
    }

    /// Reads the name of a file. Its text is the URL in the file.
    func entry(_ key: CacheKey) -> RequestedURL {
        RequestedURL(cache.url(of: key) ?? "", .content(key))
    }

    private func meaning(
        of digest: Result<ContentDigest, CacheValues.Failure>
    ) -> RequestedURL.Meaning {
        switch digest {
        case .failure(let failure): .nothing(failure)
        case .success(let digest):
            cache.keys(of: digest).first.map { .content($0) } ?? .nothing(.noContent)
        }
    }
}

extension CacheValues.Failure {
    fileprivate static let accountOfShared = CacheValues.Failure(
        .invalidURL,
        "this daemon serves several users; fetch the images of an account (#as=) from a daemon of your own"
    )

    fileprivate static let noContent = CacheValues.Failure(
        .notCached, "no entry has these bytes; fetch the image by a URL")
}

extension [RequestedURL] {
    /// The valid URLs by their keys.
    var byKey: [CacheKey: String] {
        let valid = compactMap { url in url.key.map { ($0, url.text) } }
        return Dictionary(valid, uniquingKeysWith: { first, _ in first })
    }
}
