import CLinux
internal import CacheKey
import Glibc
internal import SystemPackage

/// Publishing: from a whole partial to an entry that survives a power cut.
///
/// The order is what makes it safe. On ext4 a rename without the file's own sync leaves a zero-length
/// file under the final name after a power cut, and one without the directory's sync may be forgotten:
/// so attributes, sync of the file, rename, sync of the directory, and only then is it `cached`.
/// A batch shares the waiting: one sync of the file system for many files, or every file's writing
/// started before the first sync waits; and the directory is synced once.
extension CacheDirectory {
    /// Publishes a batch; one result for each image, in order. A failure loses only its own image,
    /// except a failed sync of the directory, after which nothing of the batch is promised.
    ///
    /// - Parameters:
    ///   - now: the time of use of the first image; each further one is used a nanosecond later.
    ///   - sync: how the files' own bytes are made durable; see ``SyncPace``.
    ///   - makeRoom: asked where the disk is full; what failed for that is then tried once more.
    func publish(
        _ batch: [StagedImage], now: FileTime, sync: SyncPace.Choice = .eachFile,
        makeRoom: (CacheKey) -> Bool = { _ in false }
    ) -> [Publication] {
        var failures: [Int: Errno] = [:]
        let uses = batch.indices.map { FileTime(nanoseconds: now.nanoseconds + Int64($0)) }
        func each(_ step: (StagedImage) throws(Errno) -> Void) {
            for (index, image) in batch.enumerated() where failures[index] == nil {
                do { try step(image) } catch { failures[index] = error }
            }
        }
        each { (image) throws(Errno) in
            try storing({ makeRoom(image.key) }) { () throws(Errno) in try writeAttributes(image) }
        }
        for (image, time) in zip(batch, uses) { setLastUse(time, of: image) }
        if sync == .eachFile || !isFileSystemSynchronized() {
            if batch.count > 1 {
                for image in batch { _ = clinux_start_writeback(image.file.descriptor) }
            }
            each { (image) throws(Errno) in try kernel.synchronize(image.file.descriptor) }
        }
        each { (image) throws(Errno) in
            // A stranger may have taken it away, or the whole directory, and laid something else there.
            guard isSame(Self.partialName(of: image.key), image.file.descriptor) else {
                throw .noSuchFileOrDirectory
            }
            try storing({ makeRoom(image.key) }) { () throws(Errno) in try rename(image.key) }
        }
        var directoryFailure: Errno?
        do { try kernel.synchronize(descriptor) } catch { directoryFailure = error }
        return batch.enumerated().map { index, image in
            let failure = failures[index] ?? directoryFailure
            return Publication(
                flight: image.flight, key: image.key,
                isLostByOthers: failures[index] == nil && directoryFailure != nil,
                result: failure.map { .failure(rejected(image, $0)) }
                    ?? facts(of: image, uses[index]))
        }
    }

    /// renameat(2).
    private func rename(_ key: CacheKey) throws(Errno) {
        try kernel.rename(Self.partialName(of: key), to: key.description, in: descriptor)
    }

    /// Syncs the file system. A failure says that some file of it could not be written, not which: then
    /// each file's own sync tells, which reports its own errors whatever was reported before.
    private func isFileSystemSynchronized() -> Bool {
        do {
            try kernel.synchronizeFileSystem(descriptor)
            return true
        } catch {
            return false
        }
    }

    /// All attributes of an entry, the dearest first: without its record a file is no entry. Where the
    /// file system has no room for them all, the validators go first, then the URL: that room is one
    /// block of an inode, not the disk.
    private func writeAttributes(_ image: StagedImage) throws(Errno) {
        guard keepsAttributes else { return }
        let file = image.file.descriptor
        if image.file.hasRecord { try removePartialRecord(file) }
        var record = image.record
        record.validators = Validators()
        let bare = record.text
        let name = EntryRecord.attributeName(of: image.key)
        if try !fits(name, image.record.text, file) { try set(name, bare, file) }
        try set(EntryAttributes.sha256, image.digest.description, file)
        try set(EntryAttributes.mediaType, image.record.mediaType.name, file)
        guard try !fits(EntryAttributes.url, image.url.string, file) else { return }
        try set(name, bare, file)
        _ = try fits(EntryAttributes.url, image.url.string, file)
    }

    /// A second try finds it gone.
    private func removePartialRecord(_ file: Int32) throws(Errno) {
        do {
            try kernel.removeAttribute(PartialRecord.attributeName, of: file)
        } catch .noData {
            return
        }
    }

    /// Sets an attribute; `false` where the inode has no room for it.
    private func fits(_ name: String, _ value: String, _ file: Int32) throws(Errno) -> Bool {
        do {
            try set(name, value, file)
            return true
        } catch .noSpace {
            return false
        }
    }

    private func set(_ name: String, _ value: String, _ file: Int32) throws(Errno) {
        try kernel.setAttribute(name, Array(value.utf8), of: file)
    }

    /// Puts an entry into the order of use. A file system that can't tell one use from another is no
    /// reason to do without the image.
    private func setLastUse(_ time: FileTime, of image: StagedImage) {
        do {
            try kernel.setAccessTime(time, of: image.file.descriptor)
        } catch {
            return
        }
    }

    private func facts(of image: StagedImage, _ now: FileTime) -> Result<EntryFacts, Failure> {
        do {
            let status = try kernel.status(of: image.file.descriptor)
            return .success(
                EntryFacts(
                    record: image.record, allocated: Int64(status.st_blocks) * 512, lastUsedAt: now)
            )
        } catch {
            return .failure(rejected(image, error))
        }
    }

    /// Cleans up after an image that could not be published. Its pages may be clean without having
    /// reached the disk, so neither the partial nor a file already renamed is ever tried again.
    private func rejected(_ image: StagedImage, _ cause: Errno) -> Failure {
        for name in [Self.partialName(of: image.key), image.key.description] {
            guard isSame(name, image.file.descriptor) else { continue }
            do {
                try kernel.unlink(name, in: descriptor)
            } catch {
                continue
            }
        }
        return .storage(cause, path: "\(path)/\(image.key)")
    }

    /// Whether a name still leads to the open file.
    func isSame(_ name: String, _ file: Int32) -> Bool {
        do {
            let named = try kernel.status(of: name, in: descriptor)
            let opened = try kernel.status(of: file)
            return named.st_dev == opened.st_dev && named.st_ino == opened.st_ino
        } catch {
            return false
        }
    }
}

extension Failure {
    /// A system call that could not store an image.
    static func storage(_ cause: Errno, path: String) -> Failure {
        switch cause {
        case .isDirectory, .directoryNotEmpty, .fileExists:
            Failure(.obstructed, "a directory lies at \(path); move it away")
        case .noSpace, .diskQuotaExceeded:
            Failure(
                .storage,
                "no room to store \(path): the file system or the quota is full; \(cause.remedy)")
        default:
            Failure(.storage, "\(path) could not be stored: \(cause); \(cause.remedy)")
        }
    }

    /// A system call that could not look at a file.
    static func unreadable(_ cause: Errno, path: String) -> Failure {
        Failure(.storage, "\(path) could not be looked at: \(cause); \(cause.remedy)")
    }
}
