import CacheWire
import Glibc
import TestSupport
import Testing

/// A damaged entry is never reported as cached once the damage can be known, and a fetch restores it.
@Suite("Damage", .serialized, .timeLimit(.minutes(10)))
struct DamageTests {
    /// The number of images for each kind of damage.
    private static let each = isLongForm ? 20 : 2

    /// A directory with entries for every kind of damage, and the kind for each entry.
    private static func fixture(
        in scope: TestScope, _ random: inout SeededGenerator
    ) async throws -> (FilledDirectory, [(number: Int, damage: EntryDamage)]) {
        let victims = EntryDamage.possible.flatMap { Array(repeating: $0, count: each) }
        let sizes = victims.map { _ in Int.random(in: 200..<20_000, using: &random) }
        let fixture = try await FilledDirectory(sizes + [900], in: scope)
        return (fixture, victims.enumerated().map { (number: $0, damage: $1) })
    }

    @Test func damageIsNoticedByTheNextStatusCall() async throws {
        try await Promise("damage is noticed by the next status call").test { figures in
            try await withTestScope { scope in
                var random = SeededGenerator(seed: testSeed)
                let (fixture, victims) = try await Self.fixture(in: scope, &random)
                for (number, damage) in victims {
                    try damage.apply(fixture, number, &random)
                    let expected: Item.State = damage.discovery == .atOnce ? .missing : .cached
                    #expect(try await fixture.state(number) == expected, "\(damage.name)")
                }
                try await Self.expectReturn(fixture, victims)
                figures.append("\(victims.count) entries damaged")
            }
        }
    }

    @Test func damageWhileStoppedIsNoticedAtStart() async throws {
        try await Promise("damage while the daemon is stopped is noticed at its start").test {
            figures in
            try await withTestScope { scope in
                var random = SeededGenerator(seed: testSeed)
                var (fixture, victims) = try await Self.fixture(in: scope, &random)
                let damaged = fixture
                try await fixture.restart {
                    for (number, damage) in victims {
                        try damage.apply(damaged, number, &random)
                    }
                }
                // The scan may not have started yet, or may be running.
                let states = try await fixture.status(fixture.urls).map(\.state)
                for (number, damage) in victims {
                    let expected: Item.State = damage.discovery == .atOnce ? .missing : .cached
                    #expect(states[number] == expected, "\(damage.name)")
                }
                #expect(states.last == .cached)
                try await fixture.waitForScan()
                let cached = victims.count { $0.damage.discovery != .atOnce } + 1
                #expect(try await fixture.listed().count == cached)
                try await Self.expectReturn(fixture, victims)
                figures.append("\(victims.count) entries damaged")
            }
        }
    }

    @Test func verifyFindsTheRemainingDamage() async throws {
        try await Promise("verify finds all damage, and nothing else").test { figures in
            try await withTestScope { scope in
                var random = SeededGenerator(seed: testSeed)
                var (fixture, victims) = try await Self.fixture(in: scope, &random)
                for (number, damage) in victims { try damage.apply(fixture, number, &random) }
                let found = try await fixture.daemon.cachectl("verify", "--json")
                #expect(found.status == .exited(1))
                let wrong = victims.filter { $0.damage.discovery != .never }
                #expect(found.lines.count == wrong.count + 1, "plus the summary")
                try await Self.expectMissing(fixture, wrong)
                // A program that opens a name without asking the daemon finds no file, and never wrong bytes.
                for (number, damage) in wrong where damage.canBeReplaced {
                    let path = try fixture.path(number)
                    var status = stat()
                    #expect(lstat(path, &status) != 0 && errno == ENOENT, "\(damage.name)")
                }
                // A restarted daemon does not accept them either.
                try await fixture.restart()
                try await Self.expectMissing(fixture, wrong)
                try await fixture.waitForScan()
                try await Self.expectMissing(fixture, wrong)
                try await Self.expectReturn(fixture, wrong)
                #expect(try await fixture.verify().leftCount == wrong.obstructing)
                figures.append("\(wrong.count) entries damaged")
            }
        }
    }

    @Test func repairRestoresImagesThatHaveAnOrigin() async throws {
        try await Promise("a repair leaves no damage").test { figures in
            try await withTestScope { scope in
                var random = SeededGenerator(seed: testSeed)
                let (fixture, victims) = try await Self.fixture(in: scope, &random)
                for (number, damage) in victims { try damage.apply(fixture, number, &random) }
                let report = try await fixture.verify(repair: true)
                let wrong = victims.filter { $0.damage.discovery != .never }
                #expect(report.damagedCount == wrong.count)
                #expect(report.leftCount == wrong.obstructing)
                let items = try await fixture.status(fixture.urls)
                for (number, damage) in wrong {
                    // An entry that lost its URL is removed; its file does not stay behind.
                    let keepsURL = ["truncated", "a bit flipped"].contains(damage.name)
                    if keepsURL { #expect(items[number].state == .cached, "\(damage.name)") }
                    if items[number].state == .cached {
                        try fixture.expectWhole(number, "\(damage.name)")
                    } else if damage.canBeReplaced {
                        #expect(access(try fixture.path(number), F_OK) != 0, "\(damage.name)")
                    }
                }
                let again = try await fixture.verify(repair: true)
                #expect(again.damagedCount == wrong.obstructing)
                figures.append("\(wrong.count) entries damaged")
            }
        }
    }

    @Test func everyFlippedBitIsFound() async throws {
        try await Promise("every flipped bit is found, and no intact image is suspected").test {
            figures in
            try await withTestScope { scope in
                var random = SeededGenerator(seed: testSeed)
                let count = isLongForm ? 1000 : 100
                let sizes = (0..<count).map { _ in Int.random(in: 200..<100_000, using: &random) }
                let fixture = try await FilledDirectory(sizes, in: scope)
                let flipped = (0..<count).filter { _ in random.oneIn(2) }
                for number in flipped { try EntryDamage.flipBit(fixture, number, using: &random) }
                let report = try await fixture.verify()
                #expect(report.checked == count)
                #expect(Set(report.damaged.map(\.url)) == Set(flipped.map { fixture.urls[$0] }))
                #expect(report.damaged.allSatisfy { $0.failure?.kind == "damaged" })
                let repaired = try await fixture.fetch(fixture.urls)
                #expect(repaired.allSatisfy { $0.state == .cached })
                for number in flipped { try fixture.expectWhole(number) }
                #expect(try await fixture.verify().damagedCount == 0)
                figures.append("\(flipped.count) bits in \(count) images")
            }
        }
    }

    // MARK: Common checks

    private static func expectMissing(
        _ fixture: FilledDirectory, _ victims: [(number: Int, damage: EntryDamage)]
    ) async throws {
        let states = try await fixture.status(fixture.urls).map(\.state)
        for (number, damage) in victims {
            #expect(states[number] == .missing, "\(damage.name)")
        }
        #expect(states.last == .cached)
    }

    /// A fetch restores everything that is missing, except a name occupied by a directory.
    private static func expectReturn(
        _ fixture: FilledDirectory, _ victims: [(number: Int, damage: EntryDamage)]
    ) async throws {
        let missing = try await fixture.status(fixture.urls).map { $0.state == .missing }
        let items = try await fixture.fetch(fixture.urls)
        for (number, damage) in victims where missing[number] {
            let item = items[number]
            guard damage.canBeReplaced else {
                #expect(item.state == .missing && item.failure?.kind == "obstructed")
                continue
            }
            #expect(item.state == .cached, "\(damage.name): \(String(describing: item.failure))")
            try fixture.expectWhole(number, "\(damage.name)")
        }
    }
}

extension [(number: Int, damage: EntryDamage)] {
    /// The number of names occupied by a directory.
    fileprivate var obstructing: Int { count { !$0.damage.canBeReplaced } }
}
