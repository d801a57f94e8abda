import CacheKey
import Testing

/// Other languages can compute a name in a few lines. These tests run such lines and compare the
/// result with ``CacheKey``.
@Suite(.timeLimit(.minutes(5))) struct EveryLanguageTests {
    private static let installed = OtherLanguage.all.filter { $0.interpreter != nil }
    private static let absent = OtherLanguage.all.filter { $0.interpreter == nil }

    @Test(arguments: installed)
    func computesTheSameNames(language: OtherLanguage) throws {
        let urls = SampleURLs.make(count: language.count)
        let names = try urls.map { CacheKey(try CacheURL($0)).description }
        let others = try language.names(of: urls)
        #expect(others.count == names.count)
        #expect(zip(others, zip(names, urls)).filter { $0 != $1.0 }.map(\.1.1) == [])
    }

    @Test(
        .enabled(if: !absent.isEmpty, "every interpreter is installed"), arguments: absent)
    func isSkippedIfTheInterpreterIsMissing(language: OtherLanguage) throws {
        try Test.cancel("\(language.command[0]) is not installed")
    }
}
