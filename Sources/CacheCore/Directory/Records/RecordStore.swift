import CacheKey
import CacheValues
import Glibc
import HTTPCaching
internal import SystemPackage

/// Where the records of entries are kept. The kind is chosen once, when the directory is opened, because file systems
/// differ.
protocol RecordStore: Sendable {
    init(directory: CacheDirectory)

    /// A drawback for the users of the directory; `nil` if there is none.
    static var limitation: String? { get }
    /// Whether the digests of entries are kept, which tell equal and damaged files.
    static var keepsDigests: Bool { get }

    /// The directory has been opened.
    func opened()

    /// The record of a file under the name of an entry; `nil` if it has no valid one.
    ///
    /// - Parameter status: that of the file, if the caller has it.
    func record(
        of key: CacheKey, _ file: FileReference, seenAs status: stat?, withValidators: Bool
    ) throws(Errno) -> EntryRecord?

    /// Replaces the record of an entry.
    func write(
        _ record: EntryRecord, of key: CacheKey, _ file: Int32, withValidators: Bool
    ) throws(Errno)

    /// Pins an entry or removes its pin, and makes that durable.
    func setPin(_ isPinned: Bool, of key: CacheKey, _ file: Int32) throws(Errno)

    /// Writes what has to be in the directory before an image gets the name of its entry.
    func prepare(
        _ image: inout StagedImage, _ digest: ContentDigest, _ file: StagingFile
    ) throws(Errno)

    /// An image has got its name.
    func published(_ image: StagedImage, seenAs status: stat) throws(Errno)

    /// The name of an entry was removed.
    func removed(_ key: CacheKey)

    /// The positions of the keys whose records are lost, among those whose types are unknown.
    func lost(_ keys: [CacheKey], isUnknown: (Int) -> Bool) -> [Int]

    /// Replaces a lost record by one with the type and the size that the bytes of the open file show.
    func recover(_ key: CacheKey, _ file: Int32) throws(Errno)
}
