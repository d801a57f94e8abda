import Testing

@testable import cached

@Suite("Percentages", .timeLimit(.minutes(5)))
struct PercentageTests {
    @Test(arguments: [("0%", 0.0), ("1%", 0.01), ("75%", 0.75), ("075%", 0.75), ("100%", 1)])
    func aNumberAndASignAreAShare(text: String, share: Double) {
        #expect(Percentage(text)?.share == share)
    }

    @Test(arguments: [
        "", "%", "75", "0.75", "7.5%", "-1%", "+1%", "101%", " 75%", "75 %", "75%%", "٣%",
        "99999999999999999999%",
    ])
    func anyOtherTextIsRefused(text: String) {
        #expect(Percentage(text) == nil)
    }

    @Test func theTextOfAPercentageReadsBack() throws {
        let share = try #require(Percentage("50%"))
        #expect(Percentage(share.description) == share)
    }
}
