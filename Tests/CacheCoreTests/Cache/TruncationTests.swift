import Foundation
import ImageFormats
import ImageSamples
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Images of every format, cut off at every position: none is published.
@Suite(
    "Cache: truncation", .timeLimit(.minutes(isLongForm ? 60 : 5)),
    .enabled(if: !Conversion.available.isEmpty, "needs ImageMagick's convert"))
struct TruncationTests {
    /// How the origin marks the end of a body.
    enum Framing: String, CaseIterable {
        case length, chunked, close

        func cut(_ image: [UInt8], at end: Int) -> OriginScript {
            switch self {
            case .length: .cut(image, after: end)
            case .chunked: .chunked(Array(image[..<end]), ended: false)
            case .close: .closeDelimited(Array(image[..<end]))
            }
        }

        func whole(_ image: [UInt8]) -> OriginScript {
            switch self {
            case .length: .answer(body: image)
            case .chunked: .chunked(image)
            case .close: .closeDelimited(image)
            }
        }
    }

    private struct Source {
        let name: String
        let image: [UInt8]
        /// Whether the format shows the end of an image.
        let isVerifiable: Bool
    }

    @Test(arguments: Framing.allCases)
    func anImageThatIsCutOffIsNeverPublished(framing: Framing) async throws {
        let sources = try await Self.sources()
        try #require(Set(sources.map(\.name)).count >= 20)
        for source in sources {
            try await withTestScope { scope in
                let fixture = try CacheFixture(in: scope) { $0.transfers.transfersPerHost = 64 }
                let image = source.image
                fixture.origin.route("/cut") { request in
                    framing.cut(image, at: Int(request.target.dropFirst("/cut?".count)) ?? 0)
                }
                fixture.origin.route("/whole", framing.whole(image))
                for batch in Self.batches(of: Self.cuts(image.count)) {
                    let imageRequests = try batch.map { try fixture.imageRequest("/cut?\($0)") }
                    let waiter = fixture.cache.fetch(imageRequests, FetchOptions())
                    let failures = try await fixture.outcome(of: waiter).failures
                    for (cut, imageRequest) in zip(batch, imageRequests)
                    where failures[imageRequest.key] == nil {
                        Issue.record("\(source.name), \(cut) of \(image.count) bytes, \(framing)")
                    }
                }
                #expect(fixture.cache.statistics().entries == 0)
                let isAccepted = try await fixture.fetch("/whole").failures.isEmpty
                #expect(isAccepted == (framing != .close || source.isVerifiable), "\(source.name)")
            }
        }
    }

    /// Every position in the first 4 KiB, then one each KiB, and the last byte; or a few of these at random.
    private static func cuts(_ count: Int) -> [Int] {
        let all = Array(0..<min(4096, count)) + Array(stride(from: 4096, to: count, by: 1024))
        return (isLongForm ? all : Array(all.shuffled().prefix(6))) + [count - 1]
    }

    private static func batches(of cuts: [Int]) -> [ArraySlice<Int>] {
        stride(from: 0, to: cuts.count, by: 1000).map { cuts[$0...].prefix(1000) }
    }

    /// The output of the formats' reference encoders, and images from Debian's packages.
    private static func sources() async throws -> [Source] {
        try await withTestScope { scope in
            let folder = try TemporaryDirectory(in: scope).path
            try await Conversion.makeSources(in: folder)
            var sources: [Source] = []
            for conversion in Conversion.available {
                sources.append(
                    Source(
                        name: "\(conversion)", image: try await conversion.run(in: folder),
                        isVerifiable: conversion.completeness == .whole))
            }
            for path in try RealImages.paths(of: RealImages.icons).prefix(4) {
                sources.append(
                    Source(name: path, image: try contents(of: path), isVerifiable: true))
            }
            return sources
        }
    }
}
