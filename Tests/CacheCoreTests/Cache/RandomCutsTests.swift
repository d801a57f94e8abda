import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Downloads that break off at random, of images that change or not: no image is put together from two.
@Suite("Cache: random cuts", .timeLimit(.minutes(10)))
struct RandomCutsTests {
    private static let count = isLongForm ? 1000 : 70

    @Test func noImageIsMixedFromTwo() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.transfers.transfersPerHost = 64 }
            let seed = UInt64.random(in: 0..<1_000_000)
            var random = SeededGenerator(seed: seed)
            let kinds = FickleOrigin.Kind.allCases
            let origins = (0..<Self.count).map { FickleOrigin(kinds[$0 % kinds.count], &random) }
            for (number, origin) in origins.enumerated() {
                fixture.origin.route("/\(number).png") { origin.answer($0) }
            }
            try await fetchAll(fixture)
            for (number, origin) in origins.enumerated() {
                let image = try contents(of: fixture.file("/\(number).png"))
                #expect(image == origin.image, "seed \(seed), \(number): \(origin.kind)")
                expectThrift(of: origin, "seed \(seed), \(number): \(origin.kind)")
                #expect(try !fixture.hasPartial("/\(number).png"))
            }
        }
    }

    /// Requests all images until each is complete.
    private func fetchAll(_ fixture: CacheFixture) async throws {
        var paths = (0..<Self.count).map { "/\($0).png" }
        let options = FetchOptions(isRefresh: true)
        try await waitUntil("all to be whole", within: .seconds(540)) {
            let imageRequests = try paths.map { try fixture.imageRequest($0) }
            let outcome = try await fixture.outcome(of: fixture.cache.fetch(imageRequests, options))
            paths = zip(paths, imageRequests).filter { outcome.failures[$1.key] != nil }.map {
                $0.0
            }
            return paths.isEmpty
        }
    }

    /// The rest of an image is requested if the origin supports ranges. Then at most 64 KiB are sent twice.
    private func expectThrift(of origin: FickleOrigin, _ comment: String) {
        let answers = origin.answers
        let asksForParts = answers.contains { $0.from != nil }
        if !origin.kind.isResumable {
            #expect(!asksForParts, "\(comment)")
        }
        if origin.kind.isObedient {
            let sent = answers.reduce(0) { $0 + $1.sent }
            #expect(sent - origin.image.count <= 64 << 10, "\(comment)")
            #expect(asksForParts == answers.dropLast().contains { $0.sent > 0 }, "\(comment)")
        }
    }
}
