import ArgumentParser

/// The URLs a command is about.
struct URLArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The URLs; - reads them from standard input, one a line.", valueName: "url"))
    var urls: [String]

    /// All URLs in order, standard input put in the place of `-`.
    func read() throws -> URLList {
        try Self.read(urls)
    }

    /// `urls` with standard input put in the place of `-`.
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
