internal import CacheKey
import CacheValues
import Glibc
import HTTPCaching
internal import SystemPackage

/// Probing names without opening their files. fstatat(2), getxattr(2).
extension CacheDirectory {
    /// Probes the name of `key`.
    func probe(_ key: CacheKey) throws(Errno) -> EntryProbe {
        try probe(key, name: key.description)
    }

    /// The same for a caller that has the name, like a scan.
    func probe(_ key: CacheKey, name: String) throws(Errno) -> EntryProbe {
        switch try inspect(key, name: name) {
        case nil: .absent
        case .success(let facts): .entry(facts)
        case .failure(.directory): .obstructed
        case .failure: .unusable
        }
    }

    /// The same, with the reason why a file is no entry; `nil` if nothing has the name.
    func inspect(_ key: CacheKey, name: String) throws(Errno) -> Result<EntryFacts, Damage>? {
        switch try find(key, name: name) {
        case nil: return nil
        case .failure(let damage): return .failure(damage)
        case .success(let (record, status)):
            return .success(
                facts(record, status, lastUsedAt: FileTime(lastUse: status.st_atim)))
        }
    }

    /// The record of an entry, and the status of its file.
    func find(
        _ key: CacheKey, name: String, withValidators: Bool = false
    ) throws(Errno) -> Result<(EntryRecord, stat), Damage>? {
        let status: stat
        do {
            status = try kernel.status(of: name, in: descriptor)
        } catch .noSuchFileOrDirectory {
            return nil
        }
        if let damage = damage(seenIn: status) { return .failure(damage) }
        let record = try records.record(
            of: key, .named(name), seenAs: status, withValidators: withValidators)
        guard let record else { return .failure(.noRecord) }
        guard record.size == status.st_size else {
            return .failure(.wrongSize(recorded: record.size))
        }
        return .success((record, status))
    }

    func facts(_ record: EntryRecord, _ status: stat, lastUsedAt: FileTime) -> EntryFacts {
        EntryFacts(
            record: record, allocated: status.allocated, lastUsedAt: lastUsedAt,
            inode: identity.inode(of: status), isLinked: status.st_nlink > 1)
    }

    private func damage(seenIn status: stat) -> Damage? {
        switch status.st_mode & S_IFMT {
        case S_IFDIR: .directory
        case S_IFREG where status.st_uid != owner: .otherOwner
        case S_IFREG where status.st_mode & S_IRUSR == 0: .unreadable
        case S_IFREG: status.st_size > 0 ? nil : .empty
        default: .notAFile
        }
    }

    /// Bytes that the disk holds for a partial. `nil` if there is none, or a directory has its name.
    /// stat(2), `st_blocks`.
    func allocated(toPartialOf key: CacheKey) throws(Errno) -> Int64? {
        do {
            let status = try kernel.status(of: Self.partialName(of: key), in: descriptor)
            guard status.st_mode & S_IFMT != S_IFDIR else { return nil }
            // It was about to become another name of an entry, which the bytes are counted with.
            return status.st_nlink > 1 ? 0 : status.allocated
        } catch .noSuchFileOrDirectory {
            return nil
        }
    }

    // MARK: Reading attributes

    /// The URL that names an entry, whether or not it fits its key; `nil` if the file does not tell.
    func url(of key: CacheKey, _ open: FileReference? = nil) throws(Errno) -> String? {
        let file = open ?? .named(key.description)
        if let unwritten = unwrittenAttributes(of: key, file) { return unwritten.name.string }
        if let own = try attribute(EntryAttributes.url(of: key), of: file) { return own }
        return try attribute(EntryAttributes.url, of: file)
    }

    /// The same, but `nil` for a URL that does not fit the key: the attribute is damaged, or that of another name.
    func ownURL(of key: CacheKey) throws(Errno) -> String? {
        let file = FileReference.named(key.description)
        // Few files have several names, so the attribute that most have is read first.
        if unwritten[key] == nil, let first = try attribute(EntryAttributes.url, of: file),
            key.isName(of: first)
        {
            return first
        }
        return try url(of: key, file).flatMap { key.isName(of: $0) ? $0 : nil }
    }

    /// The URL that an entry was downloaded from, if another one names it.
    func source(of key: CacheKey, _ open: FileReference? = nil) throws(Errno) -> String? {
        let file = open ?? .named(key.description)
        if let unwritten = unwrittenAttributes(of: key, file) {
            return unwritten.url == unwritten.name ? nil : unwritten.url.string
        }
        return try attribute(EntryAttributes.source(of: key), of: file)
    }

    /// The attributes of an entry that are not in its file yet; `nil` if they are, or another file has its name.
    func unwrittenAttributes(of key: CacheKey, _ file: FileReference) -> FurtherAttributes? {
        guard let member = unwritten[key],
            ifPossible({ () throws(Errno) in Identity(try status(of: file)) }) == member.file
        else { return nil }
        return member.attributes
    }

    /// fstatat(2), fstat(2).
    func status(of file: FileReference) throws(Errno) -> stat {
        switch file {
        case .named(let name): try kernel.status(of: name, in: descriptor)
        case .open(let file): try kernel.status(of: file)
        }
    }

    /// An attribute as text; `nil` if it is missing.
    func attribute(_ attribute: String, of file: FileReference) throws(Errno) -> String? {
        try withAttribute(attribute, of: file) { String(decoding: $0, as: UTF8.self) }
    }

    /// Calls `body` with the bytes of an attribute. `nil` if the file or the attribute is missing, or the value is
    /// longer than the limit.
    func withAttribute<Result>(
        _ attribute: String, of file: FileReference,
        upTo limit: Int = EntryAttributes.maximumLength,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(Errno) -> Result? {
        do {
            return try withTemporaryBuffer(limit) {
                (buffer) throws(Errno) -> Result in
                let count =
                    switch file {
                    case .named(let name):
                        try kernel.attribute(attribute, of: name, in: descriptor, into: buffer)
                    case .open(let file): try kernel.attribute(attribute, of: file, into: buffer)
                    }
                return body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        } catch .noData, .noSuchFileOrDirectory, .notSupported, .outOfRange {
            return nil
        }
    }
}
