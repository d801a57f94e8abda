import CLinux
import CacheDisk
internal import CacheKey
import CacheModel
import CacheValues
import Glibc
import HTTPCaching
internal import Logging
internal import SystemPackage

/// Finds entries whose bytes are in several files, after a restore that split the links for example, and makes them
/// names of one file. Runs after each scan, with the lowest priority, and writes no bytes of images.
struct CopySearch {
    let cache: Cache
    let logger: Logger

    func run() {
        guard cache.directory.sharesFiles else { return }
        clinux_lower_priority()
        var position = 0
        var hasMore = true
        var joined = 0
        while hasMore, mayRun {
            let stretch = cache.readStretch(&position)
            hasMore = stretch.hasMore
            for entry in stretch.entries where mayRun {
                if let other = cache.read({ $0.disk.index.earlierCopy(of: entry.key) }),
                    cache.joinFiles(entry.key, other)
                {
                    joined += 1
                }
            }
        }
        guard joined > 0 else { return }
        logger.info("files with equal bytes were joined", metadata: ["names": "\(joined)"])
    }

    /// A new scan waits for this thread.
    private var mayRun: Bool { cache.read { !$0.isDraining && !$0.disk.isScanning } }
}

extension Cache {
    /// Makes an entry a name of the file of another one, if both have the same bytes. Waits for the directory's thread.
    fileprivate func joinFiles(_ key: CacheKey, _ other: CacheKey) -> Bool {
        let done = Inbox<Bool>()
        worker.enqueue(.run { done.put(self.join(key, other)) })
        return done.takeAll()?.first ?? false
    }

    /// Nothing else changes the names of entries at the same time, because this runs on the directory's thread.
    private func join(_ key: CacheKey, _ other: CacheKey) -> Bool {
        guard directory.isInPlace, read({ !$0.isDraining && !$0.downloads.contains(key) }),
            let own = openOriginal(key), let original = openOriginal(other)
        else { return false }
        let isJoined = directory.join(own, original)
        if isJoined { _ = lookupInPlace([key, other]) }
        return isJoined
    }
}

extension CacheDirectory {
    /// Makes the name of an entry one of another entry's file, if the bytes of both are the same.
    func join(_ entry: OpenedEntry, _ original: OpenedEntry) -> Bool {
        let key = entry.key
        guard let record = entryRecord(of: key), record.removeAt == nil,
            !isSame(key.description, original.descriptor),
            let bytes = bytes(of: entry, record.size)
        else { return false }
        do {
            let status = try kernel.status(of: entry.descriptor)
            let file = FileReference.open(entry.descriptor)
            guard let digest = try digest(of: key, file),
                try self.digest(of: original.key, .open(original.descriptor)) == digest,
                let text = try url(of: key, file), key.isName(of: text)
            else { return false }
            let source = try source(of: key, file)
            guard let name = CacheURL(ifValid: text),
                let url = CacheURL(ifValid: source ?? text)
            else { return false }
            let image = StagedImage(
                flight: FlightID(rawValue: 0), key: key, body: .bytes(bytes), url: url,
                record: record, namedBy: name)
            let uses = [status, try kernel.status(of: original.descriptor)]
            let lastUse = uses.map { FileTime(lastUse: $0.st_atim) }.max()
            var batch = PublicationBatch()
            batch.advance(to: lastUse ?? .now)
            var item = batch.item(of: image, isPinned: record.isPinned)
            item.record.digestPrefix = digest.prefix
            guard shares(&item, digest, original, isProven: false, isConfirmed: false) else {
                return false
            }
            batch.append(item, digest)
            let end = commit(&batch, .eachFile, makeRoom: { _, _ in false }).first?.result
            if case .success? = end { return true }
        } catch {
            return false
        }
        return false
    }
}

extension CacheURL {
    /// `nil` for a text that is not a URL.
    fileprivate init?(ifValid text: String) {
        do {
            self = try CacheURL(text)
        } catch {
            return nil
        }
    }
}
