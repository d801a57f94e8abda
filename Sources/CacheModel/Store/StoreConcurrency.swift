/// How many questions to the store run at once. A store that is overloaded gets half as many, and one more after each
/// hundred answers.
package struct StoreConcurrency: Sendable {
    package private(set) var limit = Self.most
    private var answers = 0

    package static let most = 32
    private static let answersPerStep = 100

    package init() {}

    package mutating func answered() {
        guard limit < Self.most else { return }
        answers += 1
        if answers >= Self.answersPerStep { (limit, answers) = (limit + 1, 0) }
    }

    package mutating func wasTooMuch() {
        (limit, answers) = (max(1, limit / 2), 0)
    }
}
