import CLinux
internal import CacheKey
import Glibc
internal import SystemPackage

/// Reads entries to their end and compares them with what was written down when they were fetched. One
/// owner at a time.
struct EntryReader: ~Copyable {
    /// What reading an entry has shown.
    enum Finding: Sendable {
        case whole
        case damaged(Damage)
        /// It was replaced, removed or written to meanwhile, or the reading was cancelled.
        case undecided
        /// It could not be read, which says nothing of the entry: for want of memory or descriptors, say.
        case failed(Errno)
    }

    private let directory: CacheDirectory
    private var sha256: SHA256
    private let buffer: UnsafeMutableRawBufferPointer

    /// Bytes read at a time.
    private static let length = 256 * 1024

    init(_ directory: CacheDirectory) {
        sha256 = SHA256()
        self.directory = directory
        buffer = .allocate(byteCount: Self.length, alignment: 4096)
    }

    deinit {
        buffer.deallocate()
    }

    /// Reads one entry; `isCancelled` is asked between two pieces.
    mutating func read(_ specimen: OpenedEntry, isCancelled: () -> Bool) -> Finding {
        var finding = readOnce(specimen, isCancelled)
        // A disk that does not give bytes back may do it the next time.
        if case .damaged(.unreadableBytes) = finding { finding = readOnce(specimen, isCancelled) }
        return finding
    }

    private mutating func readOnce(_ specimen: OpenedEntry, _ isCancelled: () -> Bool) -> Finding {
        do {
            let before = try directory.kernel.status(of: specimen.descriptor)
            let found: Damage?
            do {
                found = try damage(specimen, isCancelled)
            } catch  where error.isOfTheDisk {
                found = .unreadableBytes(reason: "\(error)")
            }
            guard !isCancelled() else { return .undecided }
            guard let found else { return .whole }
            return try isUntouched(specimen, since: before) ? .damaged(found) : .undecided
        } catch {
            return isCancelled() ? .undecided : .failed(error)
        }
    }

    /// The attributes first: they cost nothing.
    private mutating func damage(
        _ specimen: OpenedEntry, _ isCancelled: () -> Bool
    ) throws(Errno) -> Damage? {
        let (key, file) = (specimen.key, specimen.descriptor)
        guard let record = try directory.record(of: key, name: key.description) else {
            return .noRecord
        }
        guard let text = try directory.attribute(EntryAttributes.sha256, of: file),
            let digest = ContentDigest(text)
        else { return .noDigest }
        guard let type = try directory.attribute(EntryAttributes.mediaType, of: file),
            MediaType(name: type) ?? .other == record.mediaType
        else { return .wrongType }
        // Where there was no room for it, it was left out.
        if let url = try directory.attribute(EntryAttributes.url, of: file), !key.isName(of: url) {
            return .wrongURL
        }
        return try hash(file, isCancelled) == digest ? nil : .wrongBytes
    }

    private mutating func hash(
        _ file: Int32, _ isCancelled: () -> Bool
    ) throws(Errno) -> ContentDigest {
        var position: Int64 = 0
        while !isCancelled() {
            let count = try directory.kernel.read(file, at: position, into: buffer)
            guard count > 0 else { break }
            sha256.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            position += Int64(count)
        }
        return sha256.finish()
    }

    /// Whether the name leads to the file that was read, and nobody wrote to that.
    private func isUntouched(_ specimen: OpenedEntry, since before: stat) throws(Errno) -> Bool {
        let after = try directory.kernel.status(of: specimen.descriptor)
        return directory.isInPlace(specimen) && FileVersion(before) == FileVersion(after)
    }
}

extension Errno {
    /// The disk or the file system is broken where it was read: EIO, EBADMSG of a checksum, EUCLEAN. read(2).
    fileprivate var isOfTheDisk: Bool {
        [.ioError, Errno(rawValue: Glibc.EBADMSG), Errno(rawValue: Glibc.EUCLEAN)].contains(self)
    }
}

extension CacheKey {
    /// Whether it is made from this text, and that a URL.
    func isName(of text: String) -> Bool {
        do {
            return CacheKey(try CacheURL(text)) == self
        } catch {
            return false
        }
    }
}
