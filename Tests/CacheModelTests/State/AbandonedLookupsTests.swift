import CacheKey
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Name servers that do not answer take no slots: the lookups of cancelled downloads count for their users.
@Suite("State: abandoned lookups", .timeLimit(.minutes(5)))
struct AbandonedLookupsTests {
    private static let slots = 4
    private let script = StateScript(transferLimit: Self.slots)

    private func user(_ number: Int) -> UserID { UserID(rawValue: UInt32(1000 + number)) }

    /// A user's callers come, and leave while the names of their images are looked up.
    private func abandons(_ images: [String], of user: UserID) -> [FlightID] {
        let callers = images.enumerated().map { number, image in
            script.caller("leaving", wants: image, client: UInt64(number), user: user)
        }
        for caller in callers { _ = script.event { $0.fetching.waiterLeft(caller, &$1) } }
        return images.filter { script.isStopping($0) }.map { script.abandons($0) }
    }

    private func names(_ letter: String, _ count: Int) -> [String] {
        (0..<count).map { "\(letter)\($0)" }
    }

    @Test func theLookupsOfOneUserLeaveTheSlotsToOthers() {
        let first = abandons(names("a", Self.slots), of: user(1))
        #expect(first.count == Self.slots && script.state.fetching.scheduler.running == 0)
        #expect(abandons(names("b", Self.slots), of: user(1)).count == Self.slots)
        // Twice as many as there are slots are enough.
        script.caller("ada", wants: "c", priority: .visible, client: 9, user: user(1)) {
            #expect($0 == [])
        }
        script.caller("bob", wants: "d", client: 10, user: user(2)) { #expect($0 == ["start d"]) }
        #expect(script.lookupEnds(first[0]) == ["start c"])
    }

    @Test func aUserWhoseLookupsHangStopsNobodysDownload() {
        _ = abandons(names("a", Self.slots), of: user(1))
        _ = abandons(names("b", Self.slots), of: user(1))
        script.caller(
            "bob", wants: "p1", "p2", "p3", "p4", priority: .background, client: 10, user: user(2))
        let running = script.state.fetching.scheduler.running
        script.caller("ada", wants: "c", priority: .visible, client: 9, user: user(1)) {
            #expect($0 == [])
        }
        #expect(script.passes(.seconds(70)).filter { $0.hasPrefix("cancel") } == [])
        #expect(script.state.fetching.scheduler.running == running)
    }

    /// If many users do so together, each user still has one.
    @Test func allUsersTogetherAreLimitedButEachHasOne() {
        for number in 1...2 {
            _ = abandons(names("a\(number)", Self.slots), of: user(number))
            _ = abandons(names("b\(number)", Self.slots), of: user(number))
        }
        for number in 3...9 {
            let images = names("c\(number)", 3)
            script.caller("many", wants: images[0], images[1], images[2], user: user(number)) {
                #expect($0.filter { $0.hasPrefix("start") } == ["start \(images[0])"])
            }
            #expect(script.finishes(images[0], failing: .http(404)).first == "start \(images[1])")
            _ = script.finishes(images[1], failing: .http(404))
            _ = script.finishes(images[2], failing: .http(404))
            #expect(abandons(["d\(number)"], of: user(number)).count == 1)
            // This one waits until the lookup of the last one ends.
            script.caller("waiting", wants: "e\(number)", user: user(number)) { #expect($0 == []) }
        }
    }
}
