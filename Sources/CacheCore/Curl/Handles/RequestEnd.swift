internal import CCurl

/// How libcurl ended a request.
enum RequestEnd: Equatable {
    /// The response is complete as far as libcurl knows.
    case completed
    case failed(CurlError)

    init(_ code: CURLcode) {
        self = code == CURLE_OK ? .completed : .failed(CurlError(code: code))
    }
}
