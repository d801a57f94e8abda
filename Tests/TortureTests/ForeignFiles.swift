import CLinux
import CacheKey
import CacheWire
import Glibc
import TestSupport
import Testing

/// Foreign files of every kind in the cache's directory, and their original state.
struct ForeignFiles {
    private let directory: String
    /// The target of links.
    private let precious: String
    private(set) var names: [[UInt8]] = []

    /// Creates the files in the directory of a cache that has at least one image.
    init(in fixture: FilledDirectory) throws {
        directory = fixture.directory
        precious = try fixture.elsewhere.write("precious", to: "precious")
        let entry = try fixture.path(0)
        try layFiles(near: String(entry.suffix(CacheKey.nameLength)))
        try layTypes(entry)
        try layCopies(of: entry)
    }

    /// The state of each file, which shows whether it was read, written, moved or removed.
    func snapshot() throws -> [[UInt8]: [Int]] {
        var snapshot: [[UInt8]: [Int]] = [:]
        for name in names { snapshot[name] = try Self.facts(path(name)) }
        snapshot[Array("precious".utf8)] = try Self.facts(Array(precious.utf8))
        return snapshot
    }

    // MARK: Names

    private mutating func layFiles(near key: String) throws {
        let uuids = [
            key.uppercased(), "{\(key)}", key.replacing("-", with: ""), "\(key) ", " \(key)",
            "550e8400-e29b-41d4-a716-446655440000", "2ed6657d-e927-11ea-8b1a-0242ac130003",
            "6fa459ea-ee8a-3ca4-894e-db77e160355e", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
            // Version 5, but another variant.
            "886313e1-3b8a-5372-cb90-0c9aee199e5d", "00000000-0000-0000-0000-000000000000",
        ]
        let partials = [
            "\(key.uppercased()).part", "\(key).PART", "\(key).part~", "\(key).part.part",
            "\(key).partial", "\(key)part", ".part", "x.part", "\(key.dropLast()).part",
            "550e8400-e29b-41d4-a716-446655440000.part", ".\(key).part",
        ]
        let others = [
            ".\(key)", "\(key)~", "\(key).png", ".hidden", "...", "..data", " ", "-rf", "*",
            "new\nline", "tab\tquote\"back\\slash", "CACHEDIR.TAG~", ".lock~", ".lock.2",
            String(repeating: "n", count: 255), "ümläut", "index.db", "lost+found",
        ]
        for name in uuids + partials + others { try layFile(Array(name.utf8)) }
        try layFile([0xFF, 0xFE, 0x80])
        try layFile(Array(key.utf8.dropLast()) + [0xC3])
    }

    private mutating func layFile(_ name: [UInt8], size: off_t = 0) throws {
        let file = Self.with(path(name)) { open($0, O_WRONLY | O_CREAT | O_EXCL, 0o644) }
        try #require(file >= 0, "\(String(decoding: name, as: UTF8.self)): errno \(errno)")
        defer { close(file) }
        try #require(write(file, "precious", 8) == 8 && (size == 0 || ftruncate(file, size) == 0))
        names.append(name)
        age(name)
    }

    // MARK: Types

    private mutating func layTypes(_ entry: String) throws {
        let precious = precious
        // Larger than any disk.
        try layFile(Array("sparse".utf8), size: 1 << 42)
        try lay("fifo") { mkfifo($0, 0o600) }
        try lay("socket") { mknod($0, S_IFSOCK | 0o600, 0) }
        try lay("closed") { mkdir($0, 0) }
        try lay("subdirectory") { mkdir($0, 0o700) }
        try lay("link-out") { symlink(precious, $0) }
        try lay("link-to-entry") { symlink(entry, $0) }
        try lay("link-dangling") { symlink("/nonexistent/x", $0) }
        try lay("link-to-itself") { symlink("link-to-itself", $0) }
        try lay("link-to-directory") { symlink("/tmp", $0) }
        try lay("\(String(entry.suffix(36)).uppercased())-link") { symlink(precious, $0) }
        try lay("hard-link-out") { link(precious, $0) }
    }

    /// Files that would be an entry or a partial under another name or in another place.
    private mutating func layCopies(of entry: String) throws {
        let (image, key) = (try contents(of: entry), String(entry.suffix(36)))
        let attribute = "user.cached." + key.prefix(8)
        let record = try #require(try ExtendedAttributes(of: entry).bytes(of: attribute))
        for name in ["\(key).bak", "subdirectory/\(key)", "subdirectory/\(key).part"] {
            try writeFile(image, to: "\(directory)/\(name)")
            try ExtendedAttributes(of: "\(directory)/\(name)").set(attribute, record)
            names.append(Array(name.utf8))
            age(Array(name.utf8))
        }
    }

    private mutating func lay(_ name: String, _ make: (UnsafePointer<CChar>) -> Int32) throws {
        try #require(Self.with(path(Array(name.utf8)), make) == 0, "\(name): errno \(errno)")
        names.append(Array(name.utf8))
        age(Array(name.utf8))
    }

    // MARK: Inspecting

    private func path(_ name: [UInt8]) -> [UInt8] { Array(directory.utf8) + [0x2F] + name }

    /// Under `relatime` a read is recorded only if the access time is before the change time. mount(8)
    private func age(_ name: [UInt8]) {
        let times = [timespec(tv_sec: 1000, tv_nsec: 0), timespec(tv_sec: 2000, tv_nsec: 0)]
        _ = Self.with(path(name)) { utimensat(AT_FDCWD, $0, times, AT_SYMLINK_NOFOLLOW) }
    }

    private static func facts(_ path: [UInt8]) throws -> [Int] {
        var status = stat()
        guard with(path, { lstat($0, &status) }) == 0 else {
            throw TestFailure("\(String(decoding: path, as: UTF8.self)) is gone")
        }
        return [
            Int(status.st_ino), Int(status.st_mode), Int(status.st_size), Int(status.st_nlink),
            status.st_atim.tv_sec, status.st_mtim.tv_sec, status.st_ctim.tv_sec,
            status.st_ctim.tv_nsec,
        ]
    }

    private static func with<Result>(
        _ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Result
    ) -> Result {
        (path + [0]).withUnsafeBufferPointer { bytes in
            bytes.withMemoryRebound(to: CChar.self) { body($0.baseAddress!) }
        }
    }
}
