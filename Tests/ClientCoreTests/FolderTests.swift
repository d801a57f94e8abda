import CacheKey
import CacheValues
import ClientCore
import Foundation
import Glibc
import ImageFormats
import TestSupport
import Testing

@testable import CacheFetching
@testable import HTTPCaching

/// The reader of the directory believes the record that the cache writes, and no damaged one.
@Suite struct FolderTests {
    private let url = "https://example.com/a.png"

    private func look(_ folder: inout Folder) throws -> FolderImage {
        let name = Array(url.utf8).withUnsafeBytes { ImageName(url: $0) }
        return try folder.look(name)
    }

    private func record(_ size: Int64) -> EntryRecord {
        EntryRecord(
            size: size, mediaType: .png, width: 640, height: 480,
            fetchedAt: UnixTime(rawValue: 1_790_000_000), freshUntil: nil,
            validators: Validators(entityTag: "\"1\""), isPinned: true)
    }

    @Test func everyFlippedBitOfARecordIsNoticed() throws {
        let key = CacheKey(try CacheURL(url))
        let bytes = record(5).bytes
        do {
            try withDirectory { path, folder in
                let file = path + "/\(key)"
                #expect(FileManager.default.createFile(atPath: file, contents: Data("12345".utf8)))
                let attributes = ExtendedAttributes(of: file)
                let name = EntryRecord.attributeName(of: key)
                try attributes.set(name, bytes)
                let image = try look(&folder)
                #expect(image.state == .cached && image.total == 5)
                for bit in 0..<(8 * bytes.count) {
                    var damaged = bytes
                    damaged[bit / 8] ^= 1 << (bit % 8)
                    try attributes.set(name, damaged)
                    #expect(try look(&folder).state == .missing, "bit \(bit)")
                }
                for length in 0..<bytes.count {
                    try attributes.set(name, Array(bytes[..<length]))
                    #expect(try look(&folder).state == .missing)
                }
            }
        }
    }

    @Test func typeAndDimensionsComeFromTheRecord() throws {
        let key = CacheKey(try CacheURL(url))
        try withDirectory { path, folder in
            let file = path + "/\(key)"
            #expect(FileManager.default.createFile(atPath: file, contents: Data("12345".utf8)))
            try ExtendedAttributes(of: file).set(
                EntryRecord.attributeName(of: key), record(5).bytes)
            let image = try look(&folder)
            #expect((image.width, image.height) == (640, 480))
            #expect(image.type == .png)
            #expect(String(cString: folder.lastPath) == file)
            truncate(file, 4)
            #expect(try look(&folder).state == .missing)
        }
    }

    @Test func aPartialIsInFlightOnlyWhileItIsLocked() throws {
        let key = CacheKey(try CacheURL(url))
        try withDirectory { path, folder in
            let file = path + "/\(key).part"
            #expect(FileManager.default.createFile(atPath: file, contents: Data("123".utf8)))
            #expect(try look(&folder) == FolderImage(state: .interrupted, received: 3, total: -1))
            try ExtendedAttributes(of: file).set("user.cached.total", "10")
            #expect(try look(&folder) == FolderImage(state: .interrupted, received: 3, total: 10))
            for text in ["10\n", "0x10", "-1", ""] {
                try ExtendedAttributes(of: file).set("user.cached.total", text)
                #expect(try look(&folder).total == -1, "\(text)")
            }
            unlink(file)
            mkfifo(file, 0o600)
            #expect(try look(&folder).state == .missing)
        }
    }

    /// A directory that was accepted is not looked at again, unless something is strange.
    @Test func aDirectoryThatIsReplacedIsLookedAtAgain() throws {
        let key = CacheKey(try CacheURL(url))
        try withDirectory { path, folder in
            #expect(try look(&folder).state == .missing)
            let elsewhere = path + ".elsewhere"
            defer { try? FileManager.default.removeItem(atPath: elsewhere) }
            #expect(rename(path, elsewhere) == 0)
            #expect(try look(&folder).state == .missing)
            #expect(FileManager.default.createFile(atPath: path, contents: Data("12345".utf8)))
            #expect(throws: FolderFailure.isNoDirectory) { try look(&folder) }
            #expect(unlink(path) == 0 && symlink(elsewhere, path) == 0)
            #expect(throws: FolderFailure.isLink) { try look(&folder) }
            #expect(unlink(path) == 0 && rename(elsewhere, path) == 0)
            let file = path + "/\(key)"
            #expect(FileManager.default.createFile(atPath: file, contents: Data("12345".utf8)))
            try ExtendedAttributes(of: file).set(
                EntryRecord.attributeName(of: key), record(5).bytes)
            #expect(try look(&folder).state == .cached)
            guard geteuid() == 0 else { return }
            // Another person's files are believed in no directory, and in that person's own it is refused.
            #expect(chown(file, 12345, 12345) == 0)
            #expect(try look(&folder).state == .missing)
            #expect(chown(path, 12345, 12345) == 0)
            #expect(throws: FolderFailure.isForeign) { try look(&folder) }
        }
    }

    @Test func aLinkWithASlashAtItsEndIsALink() throws {
        try withDirectory { path, _ in
            #expect(symlink(path, path + "/link") == 0)
            for slashes in ["", "/", "//"] {
                var folder = Folder(Array((path + "/link" + slashes).utf8))
                #expect(throws: FolderFailure.isLink) { try look(&folder) }
            }
        }
    }

    @Test func nothingIsOpenedButARegularFile() throws {
        let key = CacheKey(try CacheURL(url))
        try withDirectory { path, folder in
            let name = Array(url.utf8).withUnsafeBytes { ImageName(url: $0) }
            #expect(mkfifo(path + "/\(key)", 0o600) == 0)
            let file = try folder.open(name)
            #expect(file == -1)
        }
    }

    private func withDirectory(_ body: (String, inout Folder) throws -> Void) throws {
        let path = "/tmp/client-core-\(UUID().uuidString)"
        #expect(mkdir(path, 0o700) == 0)
        defer { try? FileManager.default.removeItem(atPath: path) }
        var folder = Folder(Array(path.utf8))
        try body(path, &folder)
    }
}
