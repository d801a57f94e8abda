import CacheCore
import CacheKey

/// One of the URLs that a call names, as the client wrote it.
struct RequestedURL: Sendable {
    let text: String
    /// The URL with its key, or the reason why the text is not a URL.
    let parsed: Result<ImageRequest, InvalidURL>

    init(_ text: String) {
        self.text = text
        do throws(InvalidURL) {
            parsed = .success(ImageRequest(try CacheURL(text)))
        } catch {
            parsed = .failure(error)
        }
    }

    init(_ request: ImageRequest) {
        text = request.url.string
        parsed = .success(request)
    }

    /// The URL with its key; `nil` if the text is not a URL.
    var valid: ImageRequest? {
        guard case .success(let wish) = parsed else { return nil }
        return wish
    }
}

extension [RequestedURL] {
    /// The valid URLs by their keys.
    var byKey: [CacheKey: String] {
        let valid = compactMap { $0.valid.map { ($0.key, $0.url.string) } }
        return Dictionary(valid, uniquingKeysWith: { first, _ in first })
    }
}
