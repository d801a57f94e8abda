/// A check of `doctor`.
struct Check: Sendable {
    /// One word.
    let name: String
    /// The findings; none if there is nothing to examine.
    let examine: @Sendable (Examination) -> [Finding]

    init(_ name: String, _ examine: @escaping @Sendable (Examination) -> [Finding]) {
        (self.name, self.examine) = (name, examine)
    }

    /// All checks, in the order in which a person should fix problems.
    static let all: [Check] = [
        daemon, directory, attributes, watches, space, access, clock, pressure, trust, proxy,
        contact, store,
    ]
}
