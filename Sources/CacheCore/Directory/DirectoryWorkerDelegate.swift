import CacheDisk
import CacheFetching
internal import CacheKey
import CacheValues

/// Decides for the threads that change the directory, and is told what they did.
///
/// Called by the directory's thread and by the commit thread, never by both for the same batch.
protocol DirectoryWorkerDelegate: AnyObject, Sendable {
    /// Which of the images that are about to be published are pinned.
    func pinned(among keys: [CacheKey]) -> Set<CacheKey>

    /// Opens files of entries that may have the same bytes as an image. Only their bytes tell whether they have.
    func originals(of digest: ContentDigest, size: Int64, for key: CacheKey) -> [any OpenFile]

    /// Images became entries, or failed. Their files are closed.
    func published(_ publications: [Publication])

    /// The disk is too full to publish an image that has `bytes` to come. Removes other files; returns whether
    /// that made room.
    func makeRoom(for key: CacheKey, _ bytes: Int64) -> Bool

    /// The file of a victim is gone, or could not be removed.
    func unlinked(_ victim: Victim, isGone: Bool)
}
