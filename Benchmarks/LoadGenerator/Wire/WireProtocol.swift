import ArgumentParser

/// What a server speaks: how a question is written and where its answer ends.
enum WireProtocol: String, ExpressibleByArgument, CaseIterable {
    /// `io.cached.Cache.Status`: JSON ended by NUL.
    case varlink
    /// GET of a URL's path on a kept connection.
    case http
    /// GET of a key (RESP).
    case redis
    /// `aria2.tellStatus` of a gid: JSON-RPC by POST on a kept connection.
    case aria2
    /// The bytes of `varlink`, which come back as they are.
    case echo

    /// Whether one question may name several URLs.
    var takesManyURLs: Bool { self == .varlink || self == .echo }

    /// The question about some lines of the file, as bytes.
    func request(_ lines: ArraySlice<String>) -> String {
        let line = lines.first ?? ""
        switch self {
        case .varlink, .echo: return Self.status(lines)
        case .http: return "GET \(Self.path(of: line)) HTTP/1.1\r\nHost: localhost\r\n\r\n"
        case .redis: return "*2\r\n$3\r\nGET\r\n$\(line.utf8.count)\r\n\(line)\r\n"
        case .aria2: return Self.tellStatus(line)
        }
    }

    /// URLs need no escapes in JSON: those the cache takes hold no control bytes, and the
    /// benchmark's own neither quotes nor backslashes.
    private static func status(_ urls: ArraySlice<String>) -> String {
        let list = urls.map { "\"\($0)\"" }.joined(separator: ",")
        return "{\"method\":\"io.cached.Cache.Status\",\"parameters\":{\"urls\":[\(list)]}}\0"
    }

    private static func tellStatus(_ gid: String) -> String {
        // No more than progress needs: every further key costs aria2 time.
        let keys = "[\"status\",\"totalLength\",\"completedLength\"]"
        let body =
            "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"aria2.tellStatus\","
            + "\"params\":[\"\(gid)\",\(keys)]}"
        return "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// What follows the authority of an absolute URL.
    private static func path(of url: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
        return parts.count == 3 ? "/\(parts[2])" : "/"
    }
}
