internal import CCurl

/// Addresses of host names that need no name server. It must live as long as any request.
/// CURLOPT_RESOLVE(3).
final class Resolutions {
    let list: UnsafeMutablePointer<curl_slist>?

    init(_ settings: TransferSettings) {
        list = settings.resolutions.reduce(nil) { curl_slist_append($0, $1) }
    }

    deinit {
        curl_slist_free_all(list)
    }
}
