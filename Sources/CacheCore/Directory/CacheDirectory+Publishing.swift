import CLinux
internal import CacheKey
import Glibc
internal import SystemPackage

/// Publishing: from a whole partial to an entry that survives a power cut.
///
/// The order is what makes it safe. On ext4 a rename without the file's own sync leaves a zero-length
/// file under the final name after a power cut, and one without the directory's sync may be forgotten:
/// so attributes, sync of the file, rename, sync of the directory, and only then is it `cached`. The same
/// goes for the name a file gets that has none yet.
/// A batch shares the waiting: one sync of the file system for many files, or every file's writing
/// started before the first sync waits; and the directory is synced once, be it by the file system's sync for
/// the batch after it.
extension CacheDirectory {
    /// Publishes images at once: the same as to prepare, to name and to settle them.
    func publish(
        _ images: [StagedImage], now: FileTime, sync: GroupCommitPolicy.Choice = .eachFile,
        makeRoom: (CacheKey, Int64) -> Bool = { _, _ in false }
    ) -> [Publication] {
        var batch = PublicationBatch()
        _ = prepare(images[...], for: &batch, now: now, makeRoom: makeRoom)
        return settle(name(batch, sync: sync, makeRoom: makeRoom))
    }

    /// Adds images to a batch: all that comes before the sync, nothing of which is seen under the name of
    /// an entry. A failure loses only its own image.
    ///
    /// A disk that is full for an image ends the batch before it, so that those of the batch, once they are
    /// published, may go for it; so does a want of descriptors, of which the batch has one for each image.
    /// Only the first has to have what it needs at once, if there is no batch before.
    ///
    /// - Parameters:
    ///   - pinned: those of them that are pinned; `nil`: those whose records say so.
    ///   - isNotFirst: whether another batch is on its way, that may go as well.
    ///   - now: the time of use of the first image; each further one is used a nanosecond later.
    ///   - makeRoom: asked where the disk is full, for so many bytes; what failed for that is then tried
    ///     once more.
    /// - Returns: how many were added, fewer than there are only for want of room or descriptors.
    func prepare(
        _ images: ArraySlice<StagedImage>, pinned: Set<CacheKey>? = nil,
        for batch: inout PublicationBatch, after isNotFirst: Bool = false, now: FileTime,
        makeRoom: (CacheKey, Int64) -> Bool
    ) -> Int {
        batch.nextUse = max(batch.nextUse, now)
        for (count, image) in images.enumerated() {
            let isPinned = pinned?.contains(image.key) ?? image.record.isPinned
            var item = batch.item(of: image, isPinned: isPinned)
            do {
                try prepare(&item, makeRoom: makeRoom)
            } catch {
                if error.endsBatch, batch.isPromising || isNotFirst { return count }
                item.failure = error
            }
            batch.items.append(item)
        }
        return images.count
    }

    /// Syncs the images of a batch and gives them their names, which may still be lost in a power cut: see
    /// ``settle(_:isSynced:)``. A failure loses only its own image.
    ///
    /// - Parameters:
    ///   - sync: how the files' own bytes are made durable; see ``GroupCommitPolicy``.
    ///   - former: a batch that has its names; where the whole file system is synced, that settles it too.
    ///   - onSettled: what came of that one, before any of this batch has its name.
    func name(
        _ batch: PublicationBatch, sync: GroupCommitPolicy.Choice,
        after former: consuming NamedBatch? = nil,
        onSettled: ([Publication]) -> Void = { _ in }, makeRoom: (CacheKey, Int64) -> Bool
    ) -> NamedBatch {
        var items = batch.items
        func each(_ step: (inout PublishedItem) throws(Errno) -> Void) {
            for index in items.indices where items[index].failure == nil {
                do { try step(&items[index]) } catch { items[index].failure = error }
            }
        }
        let isSynced = sync == .fileSystem && isFileSystemSynchronized()
        if let former = former.take() { onSettled(settle(former, isSynced: isSynced)) }
        if isSynced {
            // An earlier sync, that failed, may have been the one that met these bytes: they are clean
            // since then, and only their own files tell.
            each { (item) throws(Errno) in try kernel.waitForWriteback(item.descriptor) }
        } else {
            if items.count > 1 { each { _ = clinux_start_writeback($0.descriptor) } }
            each { (item) throws(Errno) in try kernel.synchronize(item.descriptor) }
        }
        let place = identity
        each { (item) throws(Errno) in try name(&item, makeRoom: makeRoom) }
        return NamedBatch(items: items, place: place)
    }

    /// Makes entries of images that have their names; one result for each, in order. Where the directory can't
    /// be synced, or is not the same any more, nothing of the batch is promised.
    ///
    /// - Parameter isSynced: the whole file system was, since they have their names.
    func settle(_ batch: consuming NamedBatch, isSynced: Bool = false) -> [Publication] {
        var common: Errno?
        if !isSynced {
            do { try kernel.synchronizeNames(in: descriptor) } catch { common = error }
        }
        if batch.place != identity { common = .noSuchFileOrDirectory }
        return batch.items.map { item in
            guard let failure = item.failure ?? common else { return published(item) }
            // The directory was deleted, or another file system lies over it.
            let isLostByOthers =
                item.failure == nil || [.noSuchFileOrDirectory, .improperLink].contains(failure)
            return rejected(item, failure, isLostByOthers: isLostByOthers)
        }
    }

    /// Gives an image the name of its entry, over whatever is there.
    private func name(
        _ item: inout PublishedItem, makeRoom: (CacheKey, Int64) -> Bool
    ) throws(Errno) {
        let key = item.key
        if !item.isNamed {
            let isDone = try kernel.storing({ makeRoom(key, 0) }) { [item] () throws(Errno) in
                try isNamed(item)
            }
            guard !isDone else { return }
            item.isNamed = true
        }
        // A stranger may have taken it away, or the whole directory, and laid something else there.
        guard isSame(item.partialName, item.descriptor) else { throw .noSuchFileOrDirectory }
        try takePin(&item)
        try kernel.storing({ makeRoom(key, 0) }) { [item] () throws(Errno) in
            try kernel.rename(item.partialName, to: item.name, in: descriptor)
        }
    }

    /// Gives a file its first name: that of its entry, or, where something lies there that only renaming
    /// replaces, that of its partial.
    private func isNamed(_ item: PublishedItem) throws(Errno) -> Bool {
        do {
            try kernel.link(item.descriptor, to: item.name, in: descriptor)
            return true
        } catch .fileExists {
            try nameLikePartial(item)
            return false
        }
    }

    /// An image is pinned like what it replaces, be that no entry any more, of which nobody knows.
    private func takePin(_ item: inout PublishedItem) throws(Errno) {
        guard keepsAttributes, !item.record.isPinned, isPinned(item.key) else { return }
        item.record.isPinned = true
        try rewrite(item.record, of: item.key, item.descriptor)
        try kernel.synchronize(item.descriptor)
    }

    private func nameLikePartial(_ item: PublishedItem) throws(Errno) {
        do {
            try kernel.link(item.descriptor, to: item.partialName, in: descriptor)
        } catch .fileExists {
            try discardPartial(of: item.key)
            try kernel.link(item.descriptor, to: item.partialName, in: descriptor)
        }
    }

    /// Everything of an image that comes before its sync.
    private func prepare(
        _ item: inout PublishedItem, makeRoom: (CacheKey, Int64) -> Bool
    ) throws(Errno) {
        let key = item.key
        let (file, digest) = try written(item, makeRoom: makeRoom)
        item.isNamed = file.isNamed
        // What was in memory need not stay there.
        item.body = .file(file, digest)
        try kernel.storing({ makeRoom(key, 0) }) { [item] () throws(Errno) in
            try writeAttributes(of: item, digest, file)
        }
        // Not sooner: each look at a file has the next change of it cost a write of its inode.
        if !file.isNamed { try makeReadable(file.descriptor) }
        setLastUse(item)
    }

    /// The file of an image, written now where that was not done before.
    private func written(
        _ image: PublishedItem, makeRoom: (CacheKey, Int64) -> Bool
    ) throws(Errno) -> (StagingFile, ContentDigest) {
        switch image.body {
        case .file(let file, let digest): return (file, digest)
        case .bytes(let bytes):
            let file = try stageWhole(image.key, makeRoom: { makeRoom(image.key, 0) })
            do {
                try file.append(bytes, makeRoom: { makeRoom(image.key, Int64(bytes.count)) })
            } catch {
                if file.isNamed { try discardPartial(of: image.key) }
                throw error
            }
            return (file, ContentDigest(of: bytes))
        }
    }

    /// Syncs the file system. A failure says that some file of it could not be written, not which: then
    /// each file's own sync tells, which reports its own errors whatever was reported before. One that is
    /// read-only, as many are after an error of their journal, syncs nothing and calls that a success.
    private func isFileSystemSynchronized() -> Bool {
        do {
            try kernel.synchronizeFileSystem(descriptor)
            return isWritable
        } catch {
            return false
        }
    }

    /// All attributes of an entry, the dearest first: without its record a file is no entry. Where the
    /// file system has no room for them all, the validators go first, then the URL: that room is one
    /// block of an inode, not the disk.
    private func writeAttributes(
        of image: PublishedItem, _ digest: ContentDigest, _ staged: StagingFile
    ) throws(Errno) {
        guard keepsAttributes else { return }
        let file = staged.descriptor
        if staged.hasRecord { try removePartialRecord(file) }
        let name = EntryRecord.attributeName(of: image.key)
        if try !fits(name, image.record.text, file) { try set(name, image.bareRecord, file) }
        try set(EntryAttributes.sha256, digest.description, file)
        try set(EntryAttributes.mediaType, image.record.mediaType.name, file)
        guard try !fits(EntryAttributes.url, image.url.string, file) else { return }
        try set(name, image.bareRecord, file)
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
        try kernel.setAttribute(name, value, of: file)
    }

    /// Puts an entry into the order of use. A file system that can't tell one use from another is no
    /// reason to do without the image.
    private func setLastUse(_ item: PublishedItem) {
        do {
            try kernel.setAccessTime(item.lastUse, of: item.descriptor)
        } catch {
            return
        }
    }

    private func published(_ item: PublishedItem) -> Publication {
        do {
            let status = try kernel.status(of: item.descriptor)
            let facts = EntryFacts(
                record: item.record, allocated: status.allocated,
                lastUsedAt: item.lastUse)
            return Publication(
                flight: item.flight, key: item.key, result: .success(facts))
        } catch {
            return rejected(item, error)
        }
    }

    /// Cleans up after an image that could not be published. Its pages may be clean without having
    /// reached the disk, so neither the partial nor a file already renamed is ever tried again.
    private func rejected(
        _ item: PublishedItem, _ cause: Errno, isLostByOthers: Bool = false
    ) -> Publication {
        let name = item.file == nil ? item.partialName : item.name
        let failure = Failure.storage(cause, path: "\(path)/\(name)")
        if item.file != nil { removeNames(of: item) }
        return Publication(
            flight: item.flight, key: item.key, isLostByOthers: isLostByOthers,
            result: .failure(failure))
    }

    /// Takes its names from a file that is no entry; where that can't be done it is none all the same.
    private func removeNames(of item: PublishedItem) {
        for name in [item.partialName, item.name] where isSame(name, item.descriptor) {
            do {
                try kernel.unlink(name, in: descriptor)
            } catch {
                if name == item.name { quarantine(item.key, item.descriptor, .unsynchronized) }
            }
        }
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

/// Images on their way to being entries, to be committed together.
struct PublicationBatch {
    fileprivate var items: [PublishedItem] = []
    /// When the next of them is used: at least a nanosecond after the one before.
    fileprivate var nextUse = FileTime(nanoseconds: 0)

    var count: Int { items.count }

    /// Some image of it may become an entry.
    fileprivate var isPromising: Bool { items.contains { $0.failure == nil } }

    fileprivate mutating func item(of image: StagedImage, isPinned: Bool) -> PublishedItem {
        defer { nextUse = FileTime(nanoseconds: nextUse.nanoseconds + 1) }
        return PublishedItem(image, isPinned: isPinned, nextUse)
    }
}

/// Images of a batch that have their names.
struct NamedBatch {
    fileprivate let items: [PublishedItem]
    /// The directory in which they have them.
    fileprivate let place: CacheDirectory.Identity
}

/// An image on its way through the steps of a batch.
private struct PublishedItem {
    let flight: FlightID
    let key: CacheKey
    let url: CacheURL
    var body: StagedBody
    var record: EntryRecord
    let lastUse: FileTime
    /// Whether its file has a name, be it that of its partial.
    var isNamed = true
    /// What stopped it.
    var failure: Errno?

    init(_ image: StagedImage, isPinned: Bool, _ lastUse: FileTime) {
        (flight, key, url) = (image.flight, image.key, image.url)
        (body, record) = (image.body, image.record)
        record.isPinned = isPinned
        self.lastUse = lastUse
    }

    /// `nil` before there is one.
    var file: StagingFile? {
        if case .file(let file, _) = body { file } else { nil }
    }

    /// Of its file; -1 before there is one.
    var descriptor: Int32 { file?.descriptor ?? -1 }

    /// What it is called once it is published.
    var name: String { key.description }

    /// What it is called until then, if anything.
    var partialName: String { CacheDirectory.partialName(of: key) }
}

extension Errno {
    /// The end of a batch takes it away.
    fileprivate var endsBatch: Bool {
        isFullDisk || self == .tooManyOpenFiles || self == .tooManyOpenFilesInSystem
    }
}

extension PublishedItem {
    /// Its record without what would have it asked about.
    fileprivate var bareRecord: String {
        var bare = record
        bare.validators = Validators()
        return bare.text
    }
}
