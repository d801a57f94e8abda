import ArgumentParser

/// The protocol of a server: how a request is encoded and where its reply ends.
enum WireProtocol: String, ExpressibleByArgument, CaseIterable {
    /// `io.cached.Cache.Status`: JSON ended by NUL.
    case varlink
    /// GET of a URL's path on a persistent connection.
    case http
    /// GET of a key (RESP).
    case redis
    /// `aria2.tellStatus` of a gid: JSON-RPC by POST on a persistent connection.
    case aria2
    /// The bytes of `varlink`, which are returned unchanged.
    case echo

    /// Whether one request can name several URLs.
    var takesManyURLs: Bool { self == .varlink || self == .echo }

    /// The request for some lines of the file, as bytes.
    func request(_ lines: ArraySlice<String>) -> String {
        let line = lines.first ?? ""
        switch self {
        case .varlink, .echo: return Self.status(lines)
        case .http: return "GET \(Self.path(of: line)) HTTP/1.1\r\nHost: localhost\r\n\r\n"
        case .redis: return "*2\r\n$3\r\nGET\r\n$\(line.utf8.count)\r\n\(line)\r\n"
        case .aria2: return Self.tellStatus(line)
        }
    }

    /// URLs need no escapes in JSON here: a valid URL has no control bytes, and the benchmark's URLs have
    /// neither quotes nor backslashes.
    private static func status(_ urls: ArraySlice<String>) -> String {
        let list = urls.map { "\"\($0)\"" }.joined(separator: ",")
        return "{\"method\":\"io.cached.Cache.Status\",\"parameters\":{\"urls\":[\(list)]}}\0"
    }

    private static func tellStatus(_ gid: String) -> String {
        // Only the keys needed for progress: every further key costs aria2 time.
        let keys = "[\"status\",\"totalLength\",\"completedLength\"]"
        let body =
            "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"aria2.tellStatus\","
            + "\"params\":[\"\(gid)\",\(keys)]}"
        return "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// The part of an absolute URL after the authority.
    private static func path(of url: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
        return parts.count == 3 ? "/\(parts[2])" : "/"
    }
}
