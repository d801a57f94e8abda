import CLinux
import CacheKey
import CacheSamples
import CacheValues
import Glibc
import HTTPCaching
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

@Suite("Resumable partials", .timeLimit(.minutes(5)))
struct ResumablePartialTests {
    static let record = "v1 total=9 boot=\(BootID.current) etag=\"a\""

    @Test func aPartialWithARecordIsFoundAndCanGrow() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let record = try #require(PartialRecord(text: Self.record))
            let file = try folder.directory.stage(Sample.key("a"), record)
            try Array("image".utf8).withUnsafeBytes { try file.append($0) }
            #expect(
                folder.attribute(PartialRecord.attributeName, of: folder.partial("a"))
                    == Self.record)
            let partial = try #require(folder.directory.resumablePartial(of: Sample.key("a")))
            #expect(partial.resumption == Resumption(record, received: 5))
            #expect(folder.directory.isUntouched(partial))
            try Array(" two".utf8).withUnsafeBytes { try partial.file.append($0) }
            #expect(try contents(of: folder.partial("a")) == Array("image two".utf8))
            #expect(!folder.directory.isUntouched(partial))
        }
    }

    @Test(arguments: [
        "", "v1", "v2 total=9 etag=\"a\"", "v1 total=9", "v1 total=0 etag=\"a\"",
        "v1 total=4 etag=\"a\"", "v1 total=9 etag=W/\"a\"", "v1 total=9 etag=\"a\"\r\nX:\"",
        "v1 total=9 modified=-1", "v1 total=9 etag", "\0\u{FF}",
    ])
    func aPartialWithoutAUsableRecordIsNotResumed(record: String) async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            try folder.write("image", to: folder.partial("a"))
            #expect(folder.directory.resumablePartial(of: Sample.key("a")) == nil)
            let record = record.replacing("v1 ", with: "v1 boot=\(BootID.current) ")
            try folder.setAttribute(PartialRecord.attributeName, record, of: folder.partial("a"))
            #expect(folder.directory.resumablePartial(of: Sample.key("a")) == nil)
            try folder.setAttribute(
                PartialRecord.attributeName, Self.record, of: folder.partial("a"))
            #expect(folder.directory.resumablePartial(of: Sample.key("a")) != nil)
        }
    }

    @Test func aPartialOfAnotherUserIsNotResumed() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            try folder.write("image", to: folder.partial("a"))
            try folder.setAttribute(
                PartialRecord.attributeName, Self.record, of: folder.partial("a"))
            guard chown(folder.partial("a"), 1, 1) == 0 else { return }
            #expect(folder.directory.resumablePartial(of: Sample.key("a")) == nil)
        }
    }

    /// The clock and the times of the file do not matter.
    @Test(arguments: ["", " boot=", " boot=0123456789abcdef"])
    func aPartialFromBeforeTheBootIsNotResumed(boot: String) async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let path = folder.partial("a")
            try folder.write("image", to: path)
            let record = "v1 total=9\(boot) etag=\"a\""
            for years in [-20, 0, 20] as [Int64] {
                try folder.setAttribute(PartialRecord.attributeName, record, of: path)
                let time = FileTime(
                    nanoseconds: FileTime.now.nanoseconds + years * 31_557_600_000_000_000)
                #expect(
                    utimensat(AT_FDCWD, path, [time.specification, time.specification], 0) == 0)
                #expect(folder.directory.resumablePartial(of: Sample.key("a")) == nil)
                try folder.setAttribute(PartialRecord.attributeName, Self.record, of: path)
                #expect(folder.directory.resumablePartial(of: Sample.key("a")) != nil)
            }
        }
    }

    @Test func theKernelIdentifiesTheBoot() {
        #expect(BootID.read("3F1C0a9b-e4d2-4877-8d0e-6a9f3c1b2d4e\n") == "3f1c0a9be4d24877")
        #expect(BootID.read("3f1c0a9b\n") == nil)
        #expect(BootID.current.utf8.count == 16)
        #expect(BootID.random().utf8.count == 16)
        #expect(BootID.random() != BootID.random())
    }

    @Test(arguments: [SyscallName.fstatat, .openat, .fstat, .getxattr, .utimensat])
    func aPartialThatCannotBeProbedIsNotResumed(call: SyscallName) async throws {
        try await withTestScope { scope in
            // Opening the directory opens four files, makes one and reads its status.
            let before: [SyscallName: Int] = [.openat: 5, .fstat: 1]
            let plan = FaultPlan(call, nth: 1 + (before[call] ?? 0), .ioError)
            let folder = try CacheFolder(in: scope, faults: plan)
            try folder.write("image", to: folder.partial("a"))
            try folder.setAttribute(
                PartialRecord.attributeName, Self.record, of: folder.partial("a"))
            #expect(folder.directory.resumablePartial(of: Sample.key("a")) == nil)
            #expect(plan.hasStruck)
            #expect(folder.directory.resumablePartial(of: Sample.key("a")) != nil)
        }
    }

    @Test func anotherFileWithTheNameIsNoticed() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let path = folder.partial("a")
            try folder.write("image", to: path)
            try folder.setAttribute(PartialRecord.attributeName, Self.record, of: path)
            let partial = try #require(folder.directory.resumablePartial(of: Sample.key("a")))
            #expect(link(path, path + ".kept") == 0)
            #expect(!folder.directory.isUntouched(partial))
            #expect(unlink(path) == 0)
            #expect(!folder.directory.isUntouched(partial))
            try folder.write("image", to: path)
            #expect(unlink(path + ".kept") == 0)
            #expect(!folder.directory.isUntouched(partial))
        }
    }

    // MARK: Publishing

    @Test func anEntryDoesNotHaveTheRecordOfItsPartial() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let image = try stage("a", in: folder)
            let publications = folder.directory.publish([image], now: .now)
            #expect(publications.map(\.failure) == [nil])
            #expect(folder.attribute(PartialRecord.attributeName, of: folder.file("a")) == nil)
            #expect(try folder.probe("a") != .unusable)
        }
    }

    @Test func aFileThatKeepsThePartialRecordIsNotPublished() async throws {
        try await withTestScope { scope in
            let plan = FaultPlan(.fremovexattr, nth: 1, .ioError)
            let folder = try CacheFolder(in: scope, faults: plan)
            let image = try stage("a", in: folder)
            let publications = folder.directory.publish([image], now: .now)
            #expect(publications.first?.failure?.kind == .storage)
            #expect(try folder.names() == [])
        }
    }

    private func stage(_ name: String, in folder: CacheFolder) throws -> StagedImage {
        let record = try #require(PartialRecord(text: Self.record))
        let file = try folder.directory.stage(Sample.key(name), record)
        try Array("image".utf8).withUnsafeBytes { try file.append($0) }
        return StagedImage(
            flight: FlightID(rawValue: 1), key: Sample.key(name),
            body: .file(file), digest: Sample.digest, url: Sample.url(name),
            record: Sample.record(size: 5))
    }
}
