import CLinux
import CacheKey
import CacheSamples
import CacheValues
import Glibc
import HTTPCaching
import TestSupport

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// A cache directory on a real file system, and the changes that another program makes in it.
struct CacheFolder {
    let path: String
    let directory: CacheDirectory

    /// Creates a folder in a new temporary directory.
    init(in scope: TestScope, faults: FaultPlan? = nil) throws {
        try self.init(TemporaryDirectory(in: scope).file("cache"), faults)
    }

    init(at path: String) throws {
        try self.init(path, nil)
    }

    /// Creates a folder on tmpfs, which keeps attributes in memory and uses no blocks for them.
    init(inMemory scope: TestScope, faults: FaultPlan? = nil) throws {
        try self.init(TemporaryDirectory(inMemory: scope).file("cache"), faults)
    }

    /// Whether tmpfs keeps user attributes here. tmpfs(5).
    static var canKeepAttributesInMemory: Bool {
        let path = "/dev/shm/cached.probe.\(getpid())"
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer {
            close(file)
            unlink(path)
        }
        return fsetxattr(file, "user.cached.probe", "1", 1, 0) == 0
    }

    private init(_ path: String, _ faults: FaultPlan?) throws {
        self.path = path
        directory = try CacheDirectory(path: path, mode: 0o700, kernel: Kernel(faults: faults))
    }

    // MARK: The cache's work

    /// An image in its partial, ready to be published.
    func stage(_ name: String, _ bytes: [UInt8]? = nil) throws -> StagedImage {
        let bytes = bytes ?? Sample.bytes(name)
        let file = try directory.stage(Sample.key(name))
        try bytes.withUnsafeBytes { try file.append($0) }
        return StagedImage(
            flight: FlightID(rawValue: 1), key: Sample.key(name),
            body: .file(file), digest: ContentDigest(of: bytes), url: Sample.url(name),
            record: Sample.record(size: Int64(bytes.count)))
    }

    /// An image in memory, ready to be published.
    func held(_ name: String, _ bytes: [UInt8]? = nil) -> StagedImage {
        let bytes = bytes ?? Sample.bytes(name)
        return StagedImage(
            flight: FlightID(rawValue: 1), key: Sample.key(name),
            body: .bytes(bytes),
            url: Sample.url(name),
            record: Sample.record(size: Int64(bytes.count)))
    }

    func publish(_ names: String...) throws -> [Publication] {
        directory.publish(
            try names.map { try stage($0) }, now: FileTime(UnixTime(rawValue: 1_790_000_100)))
    }

    /// Publishes images with their records alone.
    func publishAlone(_ images: [StagedImage]) -> [Publication] {
        let noRoom = { (_: CacheKey, _: Int64) in false }
        var batch = PublicationBatch()
        _ = directory.prepare(images[...], for: &batch, now: .now, makeRoom: noRoom)
        return directory.commit(&batch, .eachFile, makeRoom: noRoom)
    }

    func probe(_ name: String) throws -> EntryProbe {
        try directory.probe(Sample.key(name))
    }

    // MARK: Another program's changes

    /// The path of an image's file.
    func file(_ name: String) -> String { "\(path)/\(Sample.key(name))" }

    func partial(_ name: String) -> String { file(name) + ".part" }

    func write(_ text: String, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        guard descriptor >= 0 else { throw TestFailure("\(path) can't be written") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw TestFailure("\(path) can't be written")
        }
    }

    /// All names in the directory except those that every cache directory has.
    func names() throws -> [String] {
        guard let stream = opendir(path) else { throw TestFailure("\(path) can't be read") }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            if ![".", "..", ".lock", ".history", "CACHEDIR.TAG"].contains(name) {
                names.append(name)
            }
        }
        return names.sorted()
    }

    /// An extended attribute as text; `nil` if there is none.
    func attribute(_ attribute: String, of path: String) -> String? {
        bytes(attribute, of: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// An extended attribute; `nil` if there is none.
    func bytes(_ attribute: String, of path: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = lgetxattr(path, attribute, &bytes, bytes.count)
        return count < 0 ? nil : Array(bytes[..<count])
    }

    /// The digest and the validators of an image; `nil` if there is no valid attribute with them.
    func validators(_ name: String) -> ValidatorRecord? {
        let attribute = ValidatorRecord.attributeName(of: Sample.key(name))
        return self.attribute(attribute, of: file(name)).flatMap { ValidatorRecord(text: $0) }
    }

    func setAttribute(_ attribute: String, _ value: String, of path: String) throws {
        try setAttribute(attribute, Array(value.utf8), of: path)
    }

    func setAttribute(_ attribute: String, _ bytes: [UInt8], of path: String) throws {
        guard setxattr(path, attribute, bytes, bytes.count, 0) == 0 else {
            throw TestFailure("\(attribute) can't be set")
        }
    }

    /// lstat(2).
    func status(_ path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }
}

extension Publication {
    var failure: Failure? {
        guard case .failure(let failure) = result else { return nil }
        return failure
    }
}

extension CacheFolder {
    /// Makes more changes to one name than the kernel queues for one watch. inotify(7),
    /// `max_queued_events`.
    static func overflowQueue(of directory: String) throws {
        let text = try contents(of: "/proc/sys/fs/inotify/max_queued_events")
        let digits = String(decoding: text, as: UTF8.self).prefix { $0.isNumber }
        guard let limit = Int(digits) else { throw TestFailure("no limit of events: \(digits)") }
        let name = "\(directory)/\(Sample.key("overflow"))"
        for _ in 0..<limit / 2 + 10 {
            guard symlink("x", name) == 0, unlink(name) == 0 else {
                throw TestFailure("\(name) can't be made and removed")
            }
        }
    }
}
