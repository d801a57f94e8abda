internal import CacheKey
import CacheModel
import CacheValues
import Glibc
import HTTPCaching
internal import SystemPackage

/// An image of a batch, on its way to being an entry.
struct BatchImage: Sendable {
    let flight: FlightID
    let key: CacheKey
    let url: CacheURL
    /// The URL that names the image.
    let namingURL: CacheURL
    var body: StagedBody
    var record: EntryRecord
    let lastUse: FileTime
    /// When its last byte had arrived; `nil` if that is not known.
    let stagedAt: ContinuousClock.Instant?
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
    /// Why it can't become an entry.
    var failure: Errno?

    init(_ image: StagedImage, isPinned: Bool, lastUse: FileTime) {
        (flight, key, url, namingURL) = (image.flight, image.key, image.url, image.namingURL)
        (body, record) = (image.body, image.record)
        record.isPinned = isPinned
        self.lastUse = lastUse
        stagedAt = image.times.staged
    }

    /// `nil` before it is written to a file.
    var file: StagingFile? {
        if case .file(let file, _) = body { file } else { nil }
    }

    /// The descriptor of its file; -1 before there is one.
    var descriptor: Int32 { original?.descriptor ?? file?.descriptor ?? -1 }

    /// The name of its entry.
    var name: String { key.description }

    /// The name of its partial.
    var partialName: String { CacheDirectory.partialName(of: key) }
}

extension [BatchImage] {
    /// Runs a step for each image that has not failed. An error fails only its own image.
    mutating func forEachPending(_ step: (inout BatchImage) throws(Errno) -> Void) {
        for index in indices where self[index].failure == nil {
            do { try step(&self[index]) } catch { self[index].failure = error }
        }
    }
}
