import CLinux
internal import CacheKey
import Glibc
import HTTPCaching
internal import SystemPackage

/// A file that becomes an entry, open for writing: a partial, which grows during a download, or a file without a
/// name. Closed when its last owner releases it.
///
/// Closing keeps a partial in the directory. Only ``CacheDirectory/discardPartial(of:)`` removes it.
final class StagingFile: Sendable {
    let key: CacheKey
    let descriptor: Int32
    /// The attributes of a partial that it has, and that an entry must not have.
    let partialAttributes: [String]
    /// Whether it has the name of a partial, rather than none.
    let isNamed: Bool
    private let kernel: Kernel

    init(
        key: CacheKey, descriptor: Int32, partialAttributes: [String] = [],
        isNamed: Bool = true, kernel: Kernel
    ) {
        self.key = key
        self.descriptor = descriptor
        self.partialAttributes = partialAttributes
        self.isNamed = isNamed
        self.kernel = kernel
    }

    deinit {
        close(descriptor)
    }

    /// Appends bytes. If the disk becomes full, the rest is written once `makeRoom` has made room. write(2).
    func append(
        _ bytes: UnsafeRawBufferPointer, makeRoom: () -> Bool = { false }
    ) throws(Errno) {
        var rest = bytes
        try kernel.storing(makeRoom) { () throws(Errno) in try kernel.write(&rest, to: descriptor) }
    }

    /// Appends the bytes of an array.
    func append(_ bytes: [UInt8], makeRoom: () -> Bool) throws(Errno) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(Errno) in
            try append(UnsafeRawBufferPointer(bytes), makeRoom: makeRoom)
        }
    }

    /// Tells other programs that the partial is being filled, until the file is closed. Returns `false` if the file
    /// system has no such locks.
    func hold() -> Bool {
        ifPossible { () throws(Errno) in try kernel.hold(descriptor) } != nil
    }

    /// Reads from an offset on, as much as fits into the buffer. pread(2).
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        try kernel.read(descriptor, at: offset, into: buffer)
    }
}

extension CacheDirectory {
    /// Starts a new partial. A file that has its name is unlinked, never written to, because it can be a link.
    ///
    /// - Parameters:
    ///   - record: allows the download to be resumed later, if the file system keeps attributes.
    ///   - total: bytes of the whole image, if that is known. Other programs compute the progress from it.
    ///   - makeRoom: called if the disk is full.
    func stage(
        _ key: CacheKey, _ record: PartialRecord? = nil, of total: Int64? = nil,
        mode: mode_t = 0o644, makeRoom: () -> Bool = { false }
    ) throws(Errno) -> StagingFile {
        let descriptor = try kernel.storing(makeRoom) { () throws(Errno) in
            try createPartial(of: key)
        }
        var attributes: [String] = []
        if let record, isWritten(record, descriptor) {
            attributes.append(PartialRecord.attributeName)
        }
        if let total, isSet(EntryAttributes.total, "\(total)", descriptor) {
            attributes.append(EntryAttributes.total)
        }
        let file = StagingFile(
            key: key, descriptor: descriptor, partialAttributes: attributes, kernel: kernel)
        do {
            try setMode(mode, of: descriptor)
        } catch {
            try discardPartial(of: key)
            throw error
        }
        return file
    }

    /// Says who may read a file, whatever the umask or the directory's ACL says. Looking is cheaper than changing.
    /// Some file systems in user space have no modes to change. fchmod(2).
    func setMode(_ mode: mode_t, of file: Int32) throws(Errno) {
        guard try kernel.status(of: file).st_mode & 0o7777 != mode else { return }
        do {
            try kernel.setMode(mode, of: file)
        } catch .noFunction {
            return
        }
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

    /// Writes the record of a partial, with the boot id of the machine. Returns `false` if that fails; then the
    /// partial can't be resumed.
    private func isWritten(_ record: PartialRecord, _ file: Int32) -> Bool {
        var record = record
        record.boot = BootID.current
        return isSet(PartialRecord.attributeName, record.text, file)
    }

    private func isSet(_ name: String, _ value: String, _ file: Int32) -> Bool {
        ifPossible { () throws(Errno) in try kernel.setAttribute(name, value, of: file) } != nil
    }

    /// Writes the record of a partial that was staged without one, before its download ends.
    func keep(_ record: PartialRecord, with file: StagingFile) {
        _ = isWritten(record, file.descriptor)
    }

    private func create(_ name: String) throws(Errno) -> Int32 {
        try kernel.open(name, in: descriptor, O_RDWR | O_CREAT | O_EXCL, mode: 0o644)
    }
}
