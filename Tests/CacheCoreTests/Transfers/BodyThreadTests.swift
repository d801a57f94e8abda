import CacheSamples
import CacheValues
import ImageFormats
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheFetching

/// The bytes of a large image on their way to its file.
@Suite("Body thread", .timeLimit(.minutes(5)))
struct BodyThreadTests {
    private static let image = SampleImage.png(width: 30, height: 20, byteCount: 1_500_000)

    /// A thread and a file to write to, for one download.
    private struct Setting {
        let folder: CacheFolder
        let file: StagingFile
        let bytes = BodyThread { _ in }

        init(in scope: TestScope, faults: FaultPlan? = nil) throws {
            folder = try CacheFolder(in: scope, faults: faults)
            file = try folder.directory.stage(Sample.key("a"))
            scope.atEnd { [bytes] in bytes.finish() }
        }

        func write(_ image: ArraySlice<UInt8>, by writer: BodyWriter) {
            image.withUnsafeBytes { image in
                var rest = image
                while !rest.isEmpty {
                    let piece = bytes.pieces.take()
                    rest = piece.fill(rest)
                    bytes.write(piece, by: writer) { false }
                }
            }
        }
    }

    @Test func piecesAreHashedInspectedAndWrittenInOrder() async throws {
        try await withTestScope { scope in
            let setting = try Setting(in: scope)
            // The first bytes were inspected while they were in memory.
            var inspector = ImageInspector()
            Self.image[..<50_000].withUnsafeBytes { inspector.consume($0) }
            let writer = BodyWriter(FlightID(rawValue: 1), setting.file, inspector, after: 50_000)
            setting.write(Self.image[...], by: writer)
            setting.bytes.wait()
            #expect(try contents(of: setting.folder.partial("a")) == Self.image)
            #expect(writer.finishDigest() == ContentDigest(of: Self.image))
            var progress = writer.progress
            #expect(progress.written == 1_500_000 && progress.failure == nil)
            let report = progress.inspector.finish()
            #expect(report.completeness == .whole && report.width == 30)
        }
    }

    @Test func aPartialIsReadBeforeItGrows() async throws {
        try await withTestScope { scope in
            let setting = try Setting(in: scope)
            try Self.image[..<700_000].withUnsafeBytes { try setting.file.append($0) }
            let writer = BodyWriter(FlightID(rawValue: 1), setting.file)
            setting.bytes.read(by: writer, upTo: 700_000)
            for _ in 0..<3 { setting.bytes.wait() }
            setting.write(Self.image[700_000...], by: writer)
            setting.bytes.wait()
            #expect(writer.progress.read == 700_000 && writer.progress.written == 800_000)
            #expect(writer.finishDigest() == ContentDigest(of: Self.image))
        }
    }

    @Test func aPartialThatIsShorterThanItWasIsNoticed() async throws {
        try await withTestScope { scope in
            let setting = try Setting(in: scope)
            try Self.image[..<1000].withUnsafeBytes { try setting.file.append($0) }
            let writer = BodyWriter(FlightID(rawValue: 1), setting.file)
            setting.bytes.read(by: writer, upTo: 1001)
            for _ in 0..<2 { setting.bytes.wait() }
            #expect(writer.progress.isUnreadable)
        }
    }

    /// A file must not have a hole where a piece could not be written.
    @Test func nothingIsWrittenAfterAPieceThatFailed() async throws {
        try await withTestScope { scope in
            let plan = FaultPlan(.write, nth: 4, .ioError)
            let setting = try Setting(in: scope, faults: plan)
            let writer = BodyWriter(FlightID(rawValue: 1), setting.file)
            setting.write(Self.image[...], by: writer)
            setting.bytes.wait()
            #expect(plan.hasStruck)
            #expect(writer.progress.failure == .ioError)
            let written = Int(writer.progress.written)
            #expect(try contents(of: setting.folder.partial("a")) == Array(Self.image[..<written]))
            #expect(setting.bytes.pieces.areMany)
        }
    }

    @Test func downloadsPauseWhileAllPiecesAreInUse() {
        let pieces = BodyPieces()
        let taken = (0..<BodyPieces.limit).map { _ in
            #expect(pieces.areLeft)
            return pieces.take()
        }
        #expect(!pieces.areLeft && !pieces.areMany)
        for piece in taken[..<(BodyPieces.limit / 2)] { pieces.giveBack(piece) }
        #expect(pieces.areLeft && pieces.areMany)
    }
}
