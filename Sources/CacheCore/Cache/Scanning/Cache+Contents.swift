import CacheDisk
import CacheFetching
public import CacheKey
import CacheModel
public import CacheValues
import HTTPCaching
internal import Logging
internal import SystemPackage

/// Entries by their contents.
extension Cache {
    /// Whether the bytes of an entry seem to be those of another entry too. Answered from memory, where the first bytes
    /// of each digest are.
    public func hasCopy(_ key: CacheKey) -> Bool {
        read { $0.disk.index.hasCopy(key) }
    }

    /// The number of entries whose file is that of this entry, its own included.
    public func names(of key: CacheKey) -> Int {
        read { $0.disk.index.names(of: key).count }
    }

    /// The entries whose records say that their bytes have this digest. Reads an attribute of each file.
    public func keys(of digest: ContentDigest) -> [CacheKey] {
        drainWatch()
        probeDirtyNames()
        let files = read { $0.disk.index.keys(digestPrefix: digest.prefix) }
        return files.filter { has($0, digest) }.flatMap { key in
            read { $0.disk.index.names(of: key) }
        }
    }

    private func has(_ key: CacheKey, _ digest: ContentDigest) -> Bool {
        ifPossible { () throws(Errno) in try directory.digest(of: key) } == digest
    }

    // MARK: Adopting

    /// Gives an image the bytes of an entry that has this digest. This runs on the directory's thread.
    func adopt(_ key: CacheKey, _ id: FlightID, _ digest: ContentDigest) {
        let facts = adoption(of: key, id, digest)
        drainWatch()
        run { $0.adopted(key, id, facts, &$1) }
        // The watch has reported these changes too. A probe now keeps the next lookup fast.
        _ = lookupInPlace([key])
    }

    private func adoption(
        of key: CacheKey, _ id: FlightID, _ digest: ContentDigest
    ) -> EntryFacts? {
        guard directory.isInPlace else { return nil }
        do {
            if has(key, digest), case .entry(let facts) = try directory.probe(key) {
                return facts
            }
            let files = read { $0.disk.index.keys(digestPrefix: digest.prefix) }
            for other in files where other != key && has(other, digest) {
                if let facts = adopt(other, as: key, id, digest) { return facts }
            }
        } catch {
            logger.debug(
                "the entries with the digest of an image could not be read",
                metadata: ["key": "\(key)", "error": "\(error)"])
        }
        return nil
    }

    /// Gives an image the file of another entry, if its bytes really have this digest. The origin has confirmed nothing,
    /// so the image is stale from the start.
    private func adopt(
        _ other: CacheKey, as key: CacheKey, _ id: FlightID, _ digest: ContentDigest
    ) -> EntryFacts? {
        guard let original = openOriginal(other), var record = directory.entryRecord(of: other),
            let source: (url: CacheURL, name: CacheURL, isPinned: Bool) = read({ state in
                state.fetching.downloads[key].map {
                    ($0.url, $0.name, state.fetching.isPinned(key))
                }
            }), let bytes = directory.bytes(of: original, record.size),
            ContentDigest(of: bytes) == digest
        else { return nil }
        (record.validators, record.terms) = (Validators(), ReuseTerms())
        (record.freshUntil, record.isPinned) = (.now, source.isPinned)
        guard record.removeAt == nil else { return nil }
        let image = StagedImage(
            flight: id, key: key, body: .bytes(bytes), url: source.url, record: record,
            namedBy: source.name)
        var batch = PublicationBatch()
        _ = directory.prepare(
            [image], for: &batch, now: .now, originals: { _, _ in [original] }, makeRoom: makeRoom)
        guard
            case .success(let facts)? = directory.commit(&batch, .eachFile, makeRoom: makeRoom)
                .first?.result
        else { return nil }
        return facts
    }
}
