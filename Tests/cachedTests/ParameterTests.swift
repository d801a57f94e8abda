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
    func aListTakesOrderLimitAndPosition(parameters: Methods.List.Parameters) throws {
        _ = try ListMethod(parameters)
    }

    @Test(arguments: [0, -1, .min])
    func aListWithoutItemsIsRefused(limit: Int) {
        expectInvalid("limit") {
            _ = try ListMethod(.init(limit: limit))
        }
    }

    @Test(arguments: [
        "", "x", key, "/\(key)", "x/\(key)", "17/\(key)", "/17/\(key)", "x/17/\(key)",
        "size/17/\(key)",
        "age/x/\(key)", "age//\(key)", cursor + "/", cursor.uppercased(), cursor + " ",
        "age/1/6ba7b811-9dad-11d1-80b4-00c04fd430c8",
    ])
    func aPositionOfAnotherOrderIsRefused(after: String) {
        expectInvalid("after") {
            _ = try ListMethod(.init(order: .age, after: after))
        }
    }

    @Test func aRemovalNamesURLsOrAPrefixOrAll() throws {
        let urls = ["https://a.test/1", "no url", "https://a.test/2"]
        guard case .urls(urls, alsoInStore: false) = try RemoveMethod(.init(urls: urls)) else {
            Issue.record("the URLs are not taken")
            return
        }
        guard case .chosen = try RemoveMethod(.init(prefix: "https://a", unusedFor: 60)) else {
            Issue.record("the filter is not taken")
            return
        }
        guard case .all = try RemoveMethod(.init(all: true)) else {
            Issue.record("all is not taken")
            return
        }
        _ = try RemoveMethod(.init(urls: [], all: false))
    }

    @Test(arguments: [
        (Methods.Remove.Parameters(), "urls"), (.init(all: false), "urls"),
        (.init(prefix: ""), "prefix"), (.init(prefix: "", all: false), "prefix"),
        (.init(urls: [], prefix: "x"), "urls"), (.init(urls: [], all: true), "urls"),
        (.init(prefix: "x", all: true), "urls"), (.init(urls: [], host: "a.test"), "urls"),
        (.init(state: .pinned), "state"), (.init(state: .duplicates), "state"),
        (.init(unusedFor: -1), "unusedFor"),
    ])
    func aRemovalThatNamesTwoThingsOrNoneIsRefused(
        parameters: Methods.Remove.Parameters, name: String
    ) {
        expectInvalid(name) {
            _ = try RemoveMethod(parameters)
        }
    }

    /// Expects an error that names the parameter and gives a reason.
    private func expectInvalid(_ parameter: String, _ body: () throws -> Void) {
        do {
            try body()
            Issue.record("\(parameter) is accepted")
        } catch {
            guard case .invalidParameter(parameter, let reason?)? = error as? WireError else {
                Issue.record("the error is \(error)")
                return
            }
            #expect(!reason.isEmpty)
        }
    }
}
