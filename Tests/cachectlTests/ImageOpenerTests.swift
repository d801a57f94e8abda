import Testing

@testable import cachectl

@Suite struct ImageOpenerTests {
    @Test(
        arguments: [
            (["xdg-open", "gio", "firefox"], "firefox", ["xdg-open"]),
            (["gio", "firefox"], "firefox", ["gio", "open"]),
            (["firefox"], "chromium:firefox --new-tab %s", ["firefox", "--new-tab"]),
            (["w3m"], "w3m", ["w3m"]),
            (["firefox"], nil, nil),
            ([], "firefox", nil),
            ([], "::", nil),
        ] as [([String], String?, [String]?)])
    func firstInstalledProgramOpens(installed: [String], browsers: String?, command: [String]?) {
        let opener = ImageOpener(browsers: browsers, isInstalled: installed.contains)
        #expect(opener.map { [$0.program] + $0.arguments } == command)
    }
}
