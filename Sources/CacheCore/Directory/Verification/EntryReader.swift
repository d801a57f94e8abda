import CLinux
internal import CacheKey
import CacheValues
import Glibc
import HTTPCaching
import ImageFormats
internal import SystemPackage

/// Reads whole entries and compares them with their attributes.
struct EntryReader: ~Copyable {
    /// The result of reading an entry.
    enum Finding: Sendable {
        case whole
        case damaged(Damage)
        /// It was replaced, removed or written to meanwhile, or the reading was cancelled.
        case undecided
        /// It could not be read, for lack of memory or descriptors for example. That says nothing about the
        /// entry.
        case failed(Errno)
    }

    private let directory: CacheDirectory
    private let buffer: UnsafeMutableRawBufferPointer
    /// The file that was read last, and its digest. Its other names come next.
    private var last: (version: FileVersion, digest: ContentDigest)?

    /// Bytes read at a time.
    static let length = 256 * 1024

    init(_ directory: CacheDirectory) {
        self.directory = directory
        buffer = .allocate(byteCount: Self.length, alignment: 4096)
    }

    deinit {
        buffer.deallocate()
    }

    /// Reads one entry. `isCancelled` is called between two reads.
    mutating func read(_ entry: OpenedEntry, isCancelled: () -> Bool) -> Finding {
        if let damage = entry.damage { return .damaged(damage) }
        let finding = readOnce(entry, isCancelled)
        // A disk that fails to return bytes can succeed the next time.
        guard case .damaged(.unreadableBytes) = finding else { return finding }
        return readOnce(entry, isCancelled)
    }

    private mutating func readOnce(_ entry: OpenedEntry, _ isCancelled: () -> Bool) -> Finding {
        do {
            let before = try directory.kernel.status(of: entry.descriptor)
            let found: Damage?
            do {
                found = try damage(entry, isCancelled)
            } catch  where error.isOfTheDisk {
                found = .unreadableBytes(reason: "\(error)")
            }
            guard !isCancelled() else { return .undecided }
            guard let found else { return .whole }
            return try isUntouched(entry, since: before) ? .damaged(found) : .undecided
        } catch {
            return isCancelled() ? .undecided : .failed(error)
        }
    }

    /// Compares the attributes before the bytes, because that is cheap.
    private mutating func damage(
        _ entry: OpenedEntry, _ isCancelled: () -> Bool
    ) throws(Errno) -> Damage? {
        let (key, file) = (entry.key, FileReference.open(entry.descriptor))
        guard let record = try directory.record(of: key) else { return .noRecord }
        let digest = try directory.digest(of: key, file)
        // A daemon that was killed can have left an entry with its record alone.
        if !record.awaitsAttributes {
            guard digest != nil else { return .noDigest }
            guard let type = try directory.attribute(EntryAttributes.mediaType, of: file),
                MediaType(name: type) ?? .other == record.mediaType
            else { return .wrongType }
        }
        // An inode without room for the URL has none.
        if let url = try directory.url(of: key, file), !key.isName(of: url) {
            return .wrongURL
        }
        let found = try hash(entry.descriptor, isCancelled)
        let isWhole = digest.map { $0 == found } ?? (found.prefix == record.digestPrefix)
        return isWhole ? nil : .wrongBytes
    }

    private mutating func hash(
        _ file: Int32, _ isCancelled: () -> Bool
    ) throws(Errno) -> ContentDigest {
        let version = FileVersion(try directory.kernel.status(of: file))
        if let last, last.version == version { return last.digest }
        var sha256 = SHA256()
        var position: Int64 = 0
        while !isCancelled() {
            let count = try directory.kernel.read(file, at: position, into: buffer)
            guard count > 0 else { break }
            sha256.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            position += Int64(count)
        }
        let digest = sha256.finish()
        if !isCancelled() { last = (version, digest) }
        return digest
    }

    /// Whether the name leads to the file that was read, and that was not written to.
    private func isUntouched(_ entry: OpenedEntry, since before: stat) throws(Errno) -> Bool {
        let after = try directory.kernel.status(of: entry.descriptor)
        return directory.isInPlace(entry) && FileVersion(before) == FileVersion(after)
    }
}

extension Errno {
    /// The disk or the file system is broken: EIO, EBADMSG for a wrong checksum, EUCLEAN. read(2).
    fileprivate var isOfTheDisk: Bool {
        [.ioError, Errno(rawValue: Glibc.EBADMSG), Errno(rawValue: Glibc.EUCLEAN)].contains(self)
    }
}

extension CacheKey {
    /// Whether `text` is a URL with this key.
    func isName(of text: String) -> Bool {
        do {
            return CacheKey(try CacheURL(text)) == self
        } catch {
            return false
        }
    }
}
