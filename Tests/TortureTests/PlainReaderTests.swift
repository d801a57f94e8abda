import CacheWire
import Glibc
import TestSupport
import Testing

/// A program that reads the directory by itself finds what the daemon answers.
@Suite("Reading without the daemon", .serialized, .timeLimit(.minutes(5)))
struct PlainReaderTests {
    @Test func everyEntryAndEveryDamageLooksAsTheDaemonSays() async throws {
        try await withTestScope { scope in
            var random = SeededGenerator(seed: testSeed)
            let damages = EntryDamage.possible
            let fixture = try await FilledDirectory(damages.map { _ in 3000 } + [900], in: scope)
            for (number, damage) in damages.enumerated() {
                try damage.apply(fixture, number, &random)
            }
            for (number, name) in (damages.map(\.name) + ["intact"]).enumerated() {
                let state = PlainReader.state(ofPath: try fixture.path(number))
                let isCached = try await fixture.state(number) == .cached
                #expect((state == .cached) == isCached, "\(name): \(state)")
            }
            // Damage that only reading finds makes the image missing for both afterwards.
            _ = try await fixture.verify()
            for (number, damage) in damages.enumerated() where damage.discovery != .never {
                #expect(
                    PlainReader.state(ofPath: try fixture.path(number)) == .missing,
                    "\(damage.name)"
                )
            }
            _ = try await fixture.ask(
                Methods.Remove.self, .init(urls: [fixture.urls[damages.count]]))
            #expect(PlainReader.state(ofPath: try fixture.path(damages.count)) == .missing)
        }
    }
}
