import CacheKey
import Foundation
import Testing

@Suite struct VariantTests {
    private struct Vector: Decodable {
        var url: String
        var side: Int?
        var account: String?
        var original: String?
        var nearest: String?
    }

    private static func vectors() throws -> [Vector] {
        let file = URL(filePath: #filePath).appending(path: "../../Vectors/variants.json")
            .standardized
        return try JSONDecoder().decode([Vector].self, from: Data(contentsOf: file))
    }

    @Test func fragmentsNameTheVariantsOfTheVectors() throws {
        for vector in try Self.vectors().filter({ $0.original != nil }) {
            let url = try CacheURL(vector.url)
            #expect(url.side == vector.side, "\(url)")
            #expect(url.account == vector.account, "\(url)")
            #expect(url.original.string == vector.original, "\(url)")
            #expect(CacheKey(url.original) == CacheKey(try CacheURL(vector.original ?? "")))
        }
    }

    @Test func everyOtherFragmentIsRefusedWithTheNearestCorrectOne() throws {
        for vector in try Self.vectors().filter({ $0.original == nil }) {
            let error = #expect(throws: InvalidURL.self, "\(vector.url)") {
                try CacheURL(vector.url)
            }
            guard let nearest = vector.nearest, let mark = nearest.firstIndex(of: "#"), let error
            else { continue }
            #expect(error.reason.hasSuffix("write \(nearest[mark...])"), "\(vector.url): \(error)")
            #expect(throws: Never.self) { try CacheURL(nearest) }
        }
    }

    @Test func derivedSizesBelongToTheirOriginal() throws {
        let (plain, own) = (try CacheURL("https://a/b.png"), try CacheURL("https://a/b.png#as=ada"))
        #expect(try plain.derived(side: 64).string == "https://a/b.png#side=64")
        #expect(try own.derived(side: 64).string == "https://a/b.png#as=ada&side=64")
        #expect(try own.derived(side: 64).derived(side: 128).original == own)
        #expect(try own.derived(side: 64).withoutFragment == plain)
        #expect(throws: InvalidURL.self) { try plain.derived(side: 65) }
    }

    @Test(arguments: [
        "https://a.example#side=64", "https://a.example/b#side=64", "https://a.example?b#side=64",
    ])
    func theFragmentIsNoPartOfTheOrigin(text: String) throws {
        let url = try CacheURL(text)
        #expect(url.origin == "https://a.example")
        #expect(url.host == "a.example")
    }

    @Test func rulesAboutQueriesLeaveTheFragment() throws {
        let rules = try IgnoredQueries("a.example:sig")
        let name = rules.name(of: try CacheURL("https://a.example/b?sig=1&c=2#as=ada&side=64"))
        #expect(name.string == "https://a.example/b?c=2#as=ada&side=64")
        #expect(
            rules.name(of: try CacheURL("https://a.example/b?sig=1#side=64")).string
                == "https://a.example/b#side=64")
    }
}
