import ArgumentParser
import CacheWire

extension CompletionKind {
    /// The shell offers the URLs of cached images that begin with the word before the cursor.
    static let cachedURLs = CompletionKind.custom { words, _, prefix in
        // Without a daemon there is nothing to offer, and a message would only disturb the line being typed.
        (try? CachedURLs(prefix: prefix, socket: words.valueOfSocketOption).read()) ?? []
    }
}

/// The URLs of the cache that begin with a prefix, most recently used first.
private struct CachedURLs {
    let prefix: String
    let socket: String?

    /// The most URLs that are offered.
    private static let limit = 200
    /// How long the shell waits for them.
    private static let patience = Duration.seconds(1)

    /// Reads pages until there are enough URLs, or the time is over: a page of a filtered list can be short.
    func read() throws -> [String] {
        let client = try Client(socket: socket)
        let end = ContinuousClock.now + Self.patience
        var urls: [String] = []
        var after: String?
        repeat {
            var replies = try client.stream(
                Methods.List.self, .init(limit: Self.limit, after: after, prefix: prefix))
            let milliseconds = (end - ContinuousClock.now) / .milliseconds(1)
            guard milliseconds > 0, try replies.isReady(within: Int32(milliseconds)),
                let page = try replies.next()
            else { break }
            // A URL that a terminal cannot show as it is would be completed to another one.
            urls += page.items.map(\.url).filter { !$0.isEmpty && $0.printable == $0 }
            after = page.after
        } while after != nil && urls.count < Self.limit
        return CompletionShell.requesting == .zsh ? urls.map(\.withEscapedColons) : urls
    }
}

extension [String] {
    /// The path after `--socket` in the words of a command line.
    fileprivate var valueOfSocketOption: String? {
        lastIndex(of: "--socket").flatMap { self[($0 + 1)...].first }
    }
}

extension String {
    /// The function `_describe` of zsh takes the text after a bare colon for a description.
    fileprivate var withEscapedColons: String {
        split(separator: ":", omittingEmptySubsequences: false).joined(separator: #"\:"#)
    }
}
