import CLinux
internal import CacheKey
import CacheValues
import Glibc
import HTTPCaching
internal import SystemPackage

/// Partials that no download writes to: which can be resumed, and which are too old.
extension CacheDirectory {
    /// The partial of `key`, if a download can resume it: a regular file of this user with one name and a record,
    /// and no longer than the record says. Any other file is not even opened; ``stage(_:_:makeRoom:)`` unlinks it.
    ///
    /// A partial that was written before the machine started is never resumed. After a power cut a file can have its
    /// full size, with holes for the bytes that never reached the disk.
    ///
    /// Records in the file that it was asked for.
    func resumablePartial(of key: CacheKey) -> ResumablePartial? {
        do {
            let name = Self.partialName(of: key)
            guard isOwn(try kernel.status(of: name, in: descriptor)) else { return nil }
            let opened = try kernel.open(name, in: descriptor, O_RDWR | O_APPEND)
            let file = StagingFile(
                key: key, descriptor: opened,
                partialAttributes: [PartialRecord.attributeName, EntryAttributes.total],
                kernel: kernel)
            guard let resumption = try resumption(of: opened) else { return nil }
            try kernel.setAccessTime(.now, of: opened)
            return ResumablePartial(file: file, resumption: resumption)
        } catch {
            // The download can still start from the beginning.
            return nil
        }
    }

    /// The bytes of a partial that a download can resume, and those of the whole image. Unlike
    /// ``resumablePartial(of:)`` it does not count as a use.
    func restingPartial(of key: CacheKey) -> RestingPartial? {
        ifPossible { () throws(Errno) in
            let name = Self.partialName(of: key)
            guard isOwn(try kernel.status(of: name, in: descriptor)) else { return nil }
            let file = try kernel.open(name, in: descriptor, O_RDONLY)
            defer { close(file) }
            return try resumption(of: file).map {
                RestingPartial(received: $0.received, total: $0.record.total)
            }
        }
    }

    /// How the partial in an open file can be resumed; `nil` if it cannot.
    private func resumption(of file: Int32) throws(Errno) -> Resumption? {
        let status = try kernel.status(of: file)
        guard isOwn(status), let record = try partialRecord(file), record.boot == BootID.current
        else { return nil }
        return Resumption(record, received: Int64(status.st_size))
    }

    /// Whether the name still leads to the partial, and it did not change since it was opened.
    func isUntouched(_ partial: ResumablePartial) -> Bool {
        ifPossible { () throws(Errno) in
            let status = try kernel.status(of: partial.file.descriptor)
            return isOwn(status) && Int64(status.st_size) == partial.resumption.received
                && isSame(Self.partialName(of: partial.file.key), partial.file.descriptor)
        } == true
    }

    /// When a partial was last written to or asked for; `nil` if there is none.
    func lastUse(ofPartial key: CacheKey) -> FileTime? {
        ifPossible { () throws(Errno) in
            let status = try kernel.status(of: Self.partialName(of: key), in: descriptor)
            return max(FileTime(status.st_atim), FileTime(status.st_mtim))
        }
    }

    private func isOwn(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFREG && status.st_uid == owner && status.st_nlink == 1
            && status.st_size > 0
    }

    private func partialRecord(_ file: Int32) throws(Errno) -> PartialRecord? {
        try withTemporaryBuffer(EntryAttributes.maximumLength) {
            (buffer) throws(Errno) -> PartialRecord? in
            let name = PartialRecord.attributeName
            let count = try kernel.attribute(name, of: file, into: buffer)
            return PartialRecord(text: String(decoding: buffer[..<count], as: UTF8.self))
        }
    }
}
