import CLinux
import CacheKey
import CacheValues
import Glibc
import HTTPCaching
import MediaTypes

/// The cache directory, as a place for images that were not downloaded. What gets a name there is a whole image with its
/// record, as if the daemon had published it; `docs/lookup/disk-format.md` is the reference.
struct ImportFolder {
    private let folder: OpenFolder
    private let path: String
    /// The user that the directory belongs to, and its files have to.
    private let owner: uid_t
    private let rules: IgnoredQueries

    /// Opens the directory, which is made if it is missing, for its owner alone as the daemon does.
    init(_ path: String, rules: IgnoredQueries) throws(CommandFailure) {
        (self.path, self.rules) = (path, rules)
        var made = path.hasPrefix("/") ? "" : "."
        for component in path.split(separator: "/") {
            made += "/" + component
            _ = mkdir(made, 0o700)
        }
        guard let folder = OpenFolder(at: path) else { throw .system("open \(path)") }
        var status = stat()
        guard fstat(folder.descriptor, &status) == 0 else { throw .system("read \(path)") }
        (self.folder, owner) = (folder, status.st_uid)
        guard owner == geteuid() || geteuid() == 0 else {
            throw CommandFailure(
                status: .notPermitted,
                message: "\(path) belongs to user \(owner); run import as that user or as root")
        }
    }

    /// What became of an image.
    enum Outcome: String {
        case imported, cached
    }

    /// Copies an image into the directory. Its name is durable after the next ``synchronize()``.
    func add(_ text: String, _ source: ImportSource) throws(CommandFailure) -> Outcome {
        let url = try checked(text)
        let name = rules.name(of: url)
        let key = CacheKey(name)
        if isCached(key) { return .cached }
        let copy = openat(
            folder.descriptor, ".", O_RDWR | clinux_o_tmpfile | O_CLOEXEC, 0o600)
        guard copy >= 0 else { throw .system("make a file without a name in \(path)") }
        defer { close(copy) }
        // Whatever the umask is.
        guard url.account != nil || fchmod(copy, 0o644) == 0 else {
            throw .system("let others read the copy")
        }
        var record = try source.copy(to: copy)
        record.entry.isPersonal = url.account != nil
        guard owner == geteuid() || fchown(copy, owner, gid_t.max) == 0 else {
            throw .system("give the copy to user \(owner)")
        }
        let validators = ValidatorRecord(digest: "\(record.digest)", validators: Validators())
        try set(EntryRecord.attributeName(of: key), record.entry.bytes, copy)
        try set(ValidatorRecord.attributeName(of: key), Array(validators.text.utf8), copy)
        try set(EntryAttributes.mediaType, Array(record.entry.mediaType.name.utf8), copy)
        try setIfItFits(EntryAttributes.url, name.string, copy)
        if name != url { try setIfItFits(EntryAttributes.source(of: key), url.string, copy) }
        guard fsync(copy) == 0 else { throw .system("write \(path)") }
        return try give(key, to: copy)
    }

    /// Makes the names durable. On some file systems, a sync of the directory does that only for files that had a name
    /// before their own sync; one of the whole file system does it on all. syncfs(2)
    func synchronize() throws(CommandFailure) {
        guard clinux_sync_file_system(folder.descriptor) == 0 else {
            throw .system("write \(path)")
        }
    }

    private func checked(_ text: String) throws(CommandFailure) -> CacheURL {
        let url: CacheURL
        do { url = try CacheURL(text) } catch {
            throw CommandFailure(status: .invalidURL, message: "\(error)")
        }
        guard url.side == nil else {
            throw CommandFailure(
                status: .invalidURL, message: "a derived image is made of its original; import that"
            )
        }
        return url
    }

    /// Whether the name leads to an entry.
    private func isCached(_ key: CacheKey) -> Bool {
        do {
            let file = try StoredFile(path: "\(path)/\(key)")
            let bytes = try file.attribute(EntryRecord.attributeName(of: key)) ?? []
            return bytes.withUnsafeBytes { EntryRecord($0) }?.size == file.size
        } catch {
            return false
        }
    }

    /// Gives a synced file its name. A file there is no entry, and goes.
    private func give(_ key: CacheKey, to copy: Int32) throws(CommandFailure) -> Outcome {
        let name = "\(key)"
        if clinux_link_file(copy, folder.descriptor, name) == 0 { return .imported }
        guard errno == EEXIST else { throw .system("name the copy \(path)/\(name)") }
        // A daemon can have published it meanwhile.
        if isCached(key) { return .cached }
        guard unlinkat(folder.descriptor, name, 0) == 0,
            clinux_link_file(copy, folder.descriptor, name) == 0
        else { throw .system("replace \(path)/\(name)") }
        return .imported
    }

    /// The same for an attribute that an entry can be without, as the inode has room for one block of them at most.
    private func setIfItFits(_ name: String, _ value: String, _ file: Int32) throws(CommandFailure)
    {
        let bytes = Array(value.utf8)
        guard fsetxattr(file, name, bytes, bytes.count, 0) == 0 || errno == ENOSPC else {
            throw .system("set the attribute \(name) in \(path)")
        }
    }

    /// fsetxattr(2).
    private func set(_ name: String, _ value: [UInt8], _ file: Int32) throws(CommandFailure) {
        guard fsetxattr(file, name, value, value.count, 0) == 0 else {
            throw .system("set the attribute \(name) in \(path)")
        }
    }
}
