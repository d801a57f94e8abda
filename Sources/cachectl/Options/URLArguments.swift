import ArgumentParser

/// The URLs a command is about.
struct URLArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The URLs; - reads them from standard input, one a line.", valueName: "url"))
    var urls: [String]

    /// All URLs in order, standard input put in the place of `-`.
    func read() throws -> [String] {
        try Self.read(urls)
    }

    /// `urls` with standard input put in the place of `-`.
    static func read(_ urls: [String]) throws -> [String] {
        guard urls.contains("-") else { return urls }
        var all: [String] = []
        for url in urls {
            if url == "-" {
                all += try StandardInput.lines()
            } else {
                all.append(url)
            }
        }
        return all
    }
}
