import ArgumentParser

/// The URL arguments of a command.
struct URLArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The URLs; - reads them from standard input, one a line.", valueName: "url"),
        completion: .cachedURLs)
    var urls: [String]

    /// Returns all URLs in order. The lines of standard input replace an argument `-`.
    func read() throws -> URLList {
        try Self.read(urls)
    }

    /// Returns `urls`, with the lines of standard input in place of `-`.
    static func read(_ urls: [String]) throws -> URLList {
        guard urls.contains("-") else { return URLList(urls) }
        var all = URLList()
        for url in urls {
            if url == "-" {
                try StandardInput.append(to: &all)
            } else {
                all.append(url)
            }
        }
        return all
    }
}
