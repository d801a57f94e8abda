import CLinux
import CacheFetching
internal import CacheKey
import CacheValues
import Glibc
import HTTPCaching
internal import SystemPackage

/// Publishing: from a staged image to an entry that survives a power cut.
///
/// The order makes it safe: the record, sync of the file, rename, sync of the directory. Only then is the image
/// `cached`. On ext4, a rename without a sync of the file leaves a file of zero length under the final name after
/// a power cut. Without a sync of the directory the rename itself can be lost. The same holds for the first name
/// of a file that had none.
///
/// The images of a batch wait for the disk together. Many files share one sync of the file system. For few files,
/// the writing of all is started before the first sync waits. The directory is synced once for the batch.
extension CacheDirectory {
    /// Prepares and commits images in one step, with all of their attributes.
    func publish(
        _ images: [StagedImage], now: FileTime,
        sync method: GroupCommitPolicy.SyncMethod = .eachFile,
        makeRoom: (CacheKey, Int64) -> Bool = { _, _ in false }
    ) -> [Publication] {
        var batch = PublicationBatch()
        _ = prepare(images[...], for: &batch, now: now, makeRoom: makeRoom)
        defer { for image in images { writeAttributes(of: image.key) } }
        return commit(&batch, method, makeRoom: makeRoom)
    }

    /// Adds images to a batch: does everything that comes before the sync. Nothing appears under the name of an
    /// entry. A failure loses only its own image.
    ///
    /// A full disk ends the batch before the image that found it full. Once the images of the batch are
    /// published, they can be evicted to make room. A lack of descriptors ends the batch too, because each image
    /// of it has a file open. If there is nothing to commit first, the image fails instead.
    ///
    /// - Parameters:
    ///   - pinned: the pinned keys of `images`; `nil` if their records say which are pinned.
    ///   - isNotFirst: whether an earlier batch is still being committed. Then a shortage ends this batch even if
    ///     it is empty, because the end of the earlier one can help.
    ///   - now: the time of use of the first image. Each further one is used a nanosecond later.
    ///   - originals: finds files that may have the bytes of an image.
    ///   - makeRoom: called with the key and the bytes needed (0: any room) when the disk is full. If it returns
    ///     `true`, the failed call is repeated.
    /// - Returns: how many images were handled, including those that failed. The next one met the shortage.
    func prepare(
        _ images: ArraySlice<StagedImage>, pinned: Set<CacheKey>? = nil,
        for batch: inout PublicationBatch, after isNotFirst: Bool = false, now: FileTime,
        originals: (ContentDigest, StagedImage) -> [any OpenFile] = { _, _ in [] },
        makeRoom: (CacheKey, Int64) -> Bool
    ) -> Int {
        batch.advance(to: now)
        for (count, image) in images.enumerated() {
            let isPinned = pinned?.contains(image.key) ?? image.record.isPinned
            let digest = image.digest
            if batch.postpones(image, digest) { continue }
            var item = batch.item(of: image, isPinned: isPinned)
            item.record.digestPrefix = digest.prefix
            do {
                if !shares(&item, digest, batch, originals) {
                    try prepare(&item, digest, makeRoom: makeRoom)
                }
            } catch {
                if error.endsBatch, batch.isPromising || isNotFirst { return count }
                item.failure = error
            }
            batch.append(item, digest)
        }
        return images.count
    }

    /// Makes entries of the images of a batch: syncs their files, gives them their names, and syncs the
    /// directory. Returns one result for each image, in order. A failure loses only its own image, except that of
    /// the directory's sync, which loses them all.
    ///
    /// Empties the batch, which closes its files: the caller reports the results after that, because the watch
    /// reports the closing of a file as a change of its entry.
    func commit(
        _ batch: inout PublicationBatch, _ method: GroupCommitPolicy.SyncMethod,
        makeRoom: (CacheKey, Int64) -> Bool
    ) -> [Publication] {
        var images = batch.takeImages()
        synchronize(&images, method)
        // The bytes that a name stands for are lost with the file that was to hold them.
        for index in images.indices {
            if let source = images[index].source, images[source].failure != nil {
                images[index].failure = .noSuchFileOrDirectory
            }
        }
        let place = identity
        images.forEachPending { (image) throws(Errno) in
            try giveName(to: &image, makeRoom: makeRoom)
        }
        let failure = directoryFailure(since: place)
        return images.map { publication(of: $0, failure) }
    }

    /// Writes the bytes and attributes of the files to the disk.
    private func synchronize(
        _ images: inout [StagedImage], _ method: GroupCommitPolicy.SyncMethod
    ) {
        if method == .fileSystem, trySynchronizeFileSystem() {
            // An earlier sync that failed can have met these bytes. Since then their pages are clean, and only
            // their own files report the loss.
            images.forEachPending { (image) throws(Errno) in
                try kernel.waitForWriteback(image.descriptor)
            }
        } else {
            if images.count > 1 {
                images.forEachPending { _ = clinux_start_writeback($0.descriptor) }
            }
            images.forEachPending { (image) throws(Errno) in
                try kernel.synchronize(image.descriptor)
            }
        }
    }

    /// Syncs the file system. A failure means that some file of it was not written, not which one. Then each
    /// file's own sync decides, which reports the errors of its file whatever was reported before. A file system
    /// that became read-only, as many do after an error of their journal, syncs nothing and reports success.
    private func trySynchronizeFileSystem() -> Bool {
        ifPossible { () throws(Errno) in try kernel.synchronizeFileSystem(descriptor) } != nil
            && isWritable
    }

    /// Syncs the directory; returns why its new names are not durable. They are lost as well if another directory
    /// has taken its place meanwhile.
    private func directoryFailure(since place: Identity) -> Errno? {
        do {
            try kernel.synchronizeNames(in: descriptor)
        } catch {
            return error
        }
        return place == identity ? nil : .noSuchFileOrDirectory
    }

    /// - Parameter shared: the failure of the whole batch.
    private func publication(of image: StagedImage, _ shared: Errno?) -> Publication {
        if let failure = image.failure {
            // The directory was deleted, or another file system is mounted over it.
            let isLostByOthers = [.noSuchFileOrDirectory, .improperLink].contains(failure)
            return rejected(image, failure, isLostByOthers: isLostByOthers)
        }
        if let shared { return rejected(image, shared, isLostByOthers: true) }
        do {
            let status =
                if let known = image.status { known } else {
                    try kernel.status(of: image.descriptor)
                }
            try records.published(image, seenAs: status)
            var record = image.record
            record.awaitsAttributes = false
            let facts = facts(record, status, lastUsedAt: image.lastUse)
            return Publication(
                flight: image.flight, key: image.key, result: .success(facts),
                time: image.times.staged?.duration(to: .now))
        } catch {
            return rejected(image, error)
        }
    }

    /// Removes the file of an image that could not be published. Its pages can be clean without being on the
    /// disk, so neither the partial nor a file that has its final name is ever used again.
    private func rejected(
        _ image: StagedImage, _ cause: Errno, isLostByOthers: Bool = false
    ) -> Publication {
        let name = image.descriptor < 0 ? image.partialName : image.name
        let failure = Failure.storage(cause, path: "\(path)/\(name)")
        if image.descriptor >= 0 { removeNames(of: image) }
        return Publication(
            flight: image.flight, key: image.key, isLostByOthers: isLostByOthers,
            result: .failure(failure))
    }

    // MARK: Preparing an image

    /// Makes an image another name of a file that has its bytes: one of the batch, or that of an entry.
    private func shares(
        _ image: inout StagedImage, _ digest: ContentDigest, _ batch: PublicationBatch,
        _ originals: (ContentDigest, StagedImage) -> [any OpenFile]
    ) -> Bool {
        guard sharesFiles else { return false }
        if let (file, position) = batch.original(digest) {
            writeAttributes(of: batch.images[position], file)
            // Both digests were computed from the bytes just now.
            guard shares(&image, digest, file, isProven: true) else { return false }
            image.source = position
            return true
        }
        return originals(digest, image).contains { shares(&image, digest, $0, isProven: false) }
    }

    private func prepare(
        _ image: inout StagedImage, _ digest: ContentDigest, makeRoom: (CacheKey, Int64) -> Bool
    ) throws(Errno) {
        let key = image.key
        let file = try written(image, makeRoom: makeRoom)
        image.isNamed = file.isNamed
        // The bytes need not stay in memory.
        image.body = .file(file)
        try kernel.storing({ makeRoom(key, 0) }) { () throws(Errno) in
            try records.prepare(&image, digest, file)
        }
        // Not earlier: once a file was looked at, its next change costs another write of its inode.
        if !file.isNamed || image.record.isPersonal {
            try setMode(image.record.isPersonal ? 0o600 : 0o644, of: file.descriptor)
        }
        setLastUse(image)
    }

    /// The file of an image. Bytes in memory are written to a new one.
    private func written(
        _ image: StagedImage, makeRoom: (CacheKey, Int64) -> Bool
    ) throws(Errno) -> StagingFile {
        switch image.body {
        case .file(let file):
            if let twin = image.twin { _ = isClone(file, of: twin) }
            return file
        case .bytes(let bytes):
            let file = try stageWhole(image.key, makeRoom: { makeRoom(image.key, 0) })
            if let twin = image.twin, isClone(file, of: twin) { return file }
            do {
                try file.append(bytes, makeRoom: { makeRoom(image.key, Int64(bytes.count)) })
            } catch {
                if file.isNamed { try discardPartial(of: image.key) }
                throw error
            }
            return file
        }
    }

    /// Makes a file share the blocks of one with the same bytes. Returns `false` if the file system cannot.
    private func isClone(_ file: StagingFile, of twin: any OpenFile) -> Bool {
        ifPossible { () throws(Errno) in
            try kernel.clone(twin.descriptor, to: file.descriptor)
        } != nil
    }

    /// Puts an entry into the order of use. An image is published even if the file system can't keep that.
    private func setLastUse(_ image: StagedImage) {
        ifPossible { () throws(Errno) in
            try kernel.setAccessTime(image.lastUse, of: image.descriptor)
        }
    }
}

extension Errno {
    /// Whether the commit of a batch can help against it.
    fileprivate var endsBatch: Bool {
        isFullDisk || self == .tooManyOpenFiles || self == .tooManyOpenFilesInSystem
    }
}
