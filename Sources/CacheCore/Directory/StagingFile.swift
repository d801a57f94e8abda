import CLinux
internal import CacheKey
import Glibc
internal import SystemPackage

/// A download growing in `NAME.part`, or an image that came whole in a file that has no name yet; open for
/// writing, closed when the last owner lets go.
///
/// Closing keeps a partial in the directory: only ``CacheDirectory/discardPartial(of:)`` removes it.
final class StagingFile: Sendable {
    let key: CacheKey
    let descriptor: Int32
    /// Whether it carries a ``PartialRecord``, which no entry may have.
    let hasRecord: Bool
    /// Whether it is called what partials are, and not nothing.
    let isNamed: Bool
    private let kernel: Kernel

    init(
        key: CacheKey, descriptor: Int32, hasRecord: Bool = false, isNamed: Bool = true,
        kernel: Kernel
    ) {
        self.key = key
        self.descriptor = descriptor
        self.hasRecord = hasRecord
        self.isNamed = isNamed
        self.kernel = kernel
    }

    deinit {
        close(descriptor)
    }

    /// Appends bytes as they arrive; on a full disk the rest of them once `makeRoom` has made some.
    /// write(2).
    func append(
        _ bytes: UnsafeRawBufferPointer, makeRoom: () -> Bool = { false }
    ) throws(Errno) {
        var rest = bytes
        try kernel.storing(makeRoom) { () throws(Errno) in try kernel.write(&rest, to: descriptor) }
    }

    /// The same of bytes in memory.
    func append(_ bytes: [UInt8], makeRoom: () -> Bool) throws(Errno) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(Errno) in
            try append(UnsafeRawBufferPointer(bytes), makeRoom: makeRoom)
        }
    }

    /// Reads what was written before, from a place on, as much as fits. pread(2).
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        try kernel.read(descriptor, at: offset, into: buffer)
    }
}

extension CacheDirectory {
    /// Starts a new partial. What lay under its name is unlinked, never written to: it may be a link.
    ///
    /// - Parameters:
    ///   - record: by which it can be continued; it has none where the file system keeps none.
    ///   - makeRoom: asked once where the disk is full.
    func stage(
        _ key: CacheKey, _ record: PartialRecord? = nil, makeRoom: () -> Bool = { false }
    ) throws(Errno) -> StagingFile {
        let descriptor = try kernel.storing(makeRoom) { () throws(Errno) in
            try createPartial(of: key)
        }
        let hasRecord = record.map { isKept($0, descriptor) } ?? false
        let file = StagingFile(
            key: key, descriptor: descriptor, hasRecord: hasRecord, kernel: kernel)
        do {
            try makeReadable(descriptor)
        } catch {
            try discardPartial(of: key)
            throw error
        }
        return file
    }

    /// Anybody may read it, whatever the umask or the directory's ACL made of it. To look is cheaper than
    /// to change. fchmod(2).
    func makeReadable(_ file: Int32) throws(Errno) {
        guard try kernel.status(of: file).st_mode & 0o7777 != 0o644 else { return }
        try kernel.setMode(0o644, of: file)
    }

    private func createPartial(of key: CacheKey) throws(Errno) -> Int32 {
        let name = Self.partialName(of: key)
        do {
            return try create(name)
        } catch .fileExists {
            try discardPartial(of: key)
            return try create(name)
        }
    }

    /// Writes a partial's record, as of this start of the machine; `false` where it could not be, and nothing will be continued.
    private func isKept(_ record: PartialRecord, _ file: Int32) -> Bool {
        guard keepsAttributes else { return false }
        var record = record
        record.boot = BootID.current
        do {
            try kernel.setAttribute(PartialRecord.attributeName, record.text, of: file)
            return true
        } catch {
            return false
        }
    }

    /// Writes the record of a partial that was staged without one and is left behind now.
    func keep(_ record: PartialRecord, with file: StagingFile) {
        _ = isKept(record, file.descriptor)
    }

    private func create(_ name: String) throws(Errno) -> Int32 {
        try kernel.open(name, in: descriptor, O_RDWR | O_CREAT | O_EXCL, mode: 0o644)
    }
}
