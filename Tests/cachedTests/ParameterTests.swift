import CacheKey
import CacheWire
import Testing

@testable import cached

@Suite("Parameters", .timeLimit(.minutes(5)))
struct ParameterTests {
    static let key = "74738ff5-5367-5958-9aee-98fffdcd1876"
    static let cursor = "age/17/\(key)"

    @Test(arguments: [
        Methods.List.Parameters(), .init(order: .size), .init(limit: 1), .init(limit: .max),
        .init(order: .age, limit: 1_000_000, after: cursor),
    ])
    func aPageIsAskedForInManyWays(parameters: Methods.List.Parameters) throws {
        _ = try ListPage(parameters)
    }

    @Test(arguments: [0, -1, .min])
    func aPageWithoutItemsIsRefused(limit: Int) {
        #expect(throws: WireError.invalidParameter(parameter: "limit")) {
            _ = try ListPage(.init(limit: limit))
        }
    }

    @Test(arguments: [
        "", "x", key, "/\(key)", "x/\(key)", "17/\(key)", "/17/\(key)", "x/17/\(key)",
        "size/17/\(key)",
        "age/x/\(key)", "age//\(key)", cursor + "/", cursor.uppercased(), cursor + " ",
        "age/1/6ba7b811-9dad-11d1-80b4-00c04fd430c8",
    ])
    func aPlaceThatIsNoneInTheOrderIsRefused(after: String) {
        #expect(throws: WireError.invalidParameter(parameter: "after")) {
            _ = try ListPage(.init(order: .age, after: after))
        }
    }

    @Test func aRemovalNamesURLsOrAPrefixOrAll() throws {
        let urls = ["https://a.test/1", "no url", "https://a.test/2"]
        guard case .urls(urls) = try RemovalSelection(.init(urls: urls)) else {
            Issue.record("URLs make no selection of them")
            return
        }
        guard case .prefix("https://a") = try RemovalSelection(.init(prefix: "https://a")) else {
            Issue.record("a prefix makes none")
            return
        }
        guard case .prefix("") = try RemovalSelection(.init(all: true)) else {
            Issue.record("all is not the empty prefix")
            return
        }
        _ = try RemovalSelection(.init(urls: [], all: false))
    }

    @Test(arguments: [
        (Methods.Remove.Parameters(), "urls"), (.init(all: false), "urls"),
        (.init(prefix: ""), "prefix"), (.init(prefix: "", all: false), "prefix"),
        (.init(urls: [], prefix: "x"), "urls"), (.init(urls: [], all: true), "urls"),
        (.init(prefix: "x", all: true), "urls"),
    ])
    func aRemovalThatSaysTwoThingsOrNoneIsRefused(
        parameters: Methods.Remove.Parameters, name: String
    ) {
        #expect(throws: WireError.invalidParameter(parameter: name)) {
            _ = try RemovalSelection(parameters)
        }
    }

    @Test func moreURLsThanCanBeAnsweredAreRefused() throws {
        try Connection.admit(Array(repeating: "", count: Connection.urlLimit))
        #expect(throws: WireError.tooMany(limit: Connection.urlLimit)) {
            try Connection.admit(Array(repeating: "", count: Connection.urlLimit + 1))
        }
        #expect(Connection.urlLimit >= 100_000)
    }
}
