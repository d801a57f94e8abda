import CacheKey
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// An origin, and a directory with everything that a start can find: a fresh image, a stale image, an image that has
/// to be removed, and an interrupted download. Each run has a copy of the directory.
struct FaultPlace {
    let origin: ScriptedOrigin
    private let home: TemporaryDirectory

    static let new = (0..<20).map { "/new\($0).png" }
    static let partial = "/partial.png"
    static let stale = "/stale.png"
    static let fresh = "/fresh.png"
    static let unloved = "/unloved.png"
    static let old = (0..<6).map { "/old\($0).png" }
    static let all = new + [partial, stale, fresh, unloved] + old

    init(in scope: TestScope) async throws {
        origin = try ScriptedOrigin(in: scope)
        home = try TemporaryDirectory(in: scope)
        for (path, image) in Self.images { serve(image, at: path) }
        let fixture = try CacheFixture(in: scope, directory: template, origin: origin)
        for path in Self.old + [Self.stale, Self.fresh, Self.unloved] {
            let outcome = try await fixture.fetch(path)
            try #require(outcome.failures.isEmpty)
        }
        let image = try #require(Self.images[Self.partial])
        try fixture.leavePartial(Self.partial, image.prefix(image.count / 2), of: image.count)
        await CacheFixture.drain(fixture.cache)
    }

    private var template: String { home.file("template") }

    /// Copies the directory.
    func copy(to place: String) async throws {
        try await runSuccessfully("cp", ["-a", template, place])
    }

    /// The images of the origin by path, made once, because thousands of runs compare with them.
    static let images: [String: [UInt8]] = {
        let made = all.enumerated().map { number, path in
            (path, SampleImage.png(byteCount: 3000 + number * 5000, seed: number))
        }
        return Dictionary(uniqueKeysWithValues: made)
    }()

    private func serve(_ image: [UInt8], at path: String) {
        let lifetime = path == Self.stale ? 0 : 3600
        let headers = HeaderFields([("ETag", "\"1\""), ("Cache-Control", "max-age=\(lifetime)")])
        origin.route(path) { request in
            guard request.headers["If-None-Match"] != "\"1\"" else { return [.head(304, headers)] }
            return .ranged(image, for: request, headers: headers)
        }
    }
}
