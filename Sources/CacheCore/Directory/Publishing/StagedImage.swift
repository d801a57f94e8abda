import CacheFetching
internal import CacheKey
import CacheValues
import Glibc
import HTTPCaching
internal import SystemPackage

/// A whole, checked image on its way to being an entry.
struct StagedImage: Sendable {
    let flight: FlightID
    let key: CacheKey
    let url: CacheURL
    /// The URL that names the image.
    private(set) var namingURL: CacheURL
    var body: ImageBody
    /// The SHA-256 of the bytes; `nil` if it is not computed yet, because they are in memory.
    private let knownDigest: ContentDigest?
    /// Becomes the record of the entry. Its size is the number of bytes.
    var record: EntryRecord
    let times: TransferTimes

    // MARK: In a batch

    /// The time of use of the entry.
    var lastUse = FileTime(nanoseconds: 0)
    /// Whether its file has a name, that of its partial for example.
    var isNamed = true
    /// The file of another image, of which this one becomes a name; `nil` if it has a file of its own.
    var original: (any OpenFile)?
    /// A file that was found to have the same bytes, whether or not it can have this name too.
    var twin: (any OpenFile)?
    /// The position in the batch of the image that the original is the file of, if it is one of the batch.
    var source: Int?
    /// Whether the name of its entry leads to the original already.
    var isPlaced = false
    /// The status of its own file after the sync; `nil` if it was not needed.
    var status: stat?
    /// The attributes that its file gets after its publication; `nil` if the file has them.
    var unwritten: FurtherAttributes?
    /// Why it can't become an entry.
    var failure: Errno?

    init(
        flight: FlightID, key: CacheKey, body: ImageBody, digest: ContentDigest? = nil,
        url: CacheURL, record: EntryRecord, times: TransferTimes = TransferTimes(),
        namedBy namingURL: CacheURL? = nil
    ) {
        (self.flight, self.key, self.body, knownDigest) = (flight, key, body, digest)
        (self.url, self.record, self.times) = (url, record, times)
        self.namingURL = namingURL ?? url
    }

    /// The same image under another name.
    func named(by other: CacheURL?) -> StagedImage {
        var image = self
        image.namingURL = other ?? namingURL
        return image
    }

    /// The SHA-256 of the bytes, which takes reading those in memory.
    var digest: ContentDigest {
        switch (knownDigest, body) {
        case (let digest?, _): digest
        case (nil, .bytes(let bytes)): ContentDigest(of: bytes)
        case (nil, .file): preconditionFailure("an image in a file was staged without its digest")
        }
    }

    /// The descriptor of its file; -1 before there is one.
    var descriptor: Int32 { original?.descriptor ?? body.file?.descriptor ?? -1 }

    /// The name of its entry.
    var name: String { key.description }

    /// The name of its partial.
    var partialName: String { CacheDirectory.partialName(of: key) }
}

extension [StagedImage] {
    /// Runs a step for each image that has not failed. An error fails only its own image.
    mutating func forEachPending(_ step: (inout StagedImage) throws(Errno) -> Void) {
        for index in indices where self[index].failure == nil {
            do { try step(&self[index]) } catch { self[index].failure = error }
        }
    }
}
