internal import CacheKey
internal import SystemPackage

/// An image of a batch, on its way to being an entry.
struct BatchImage: Sendable {
    let flight: FlightID
    let key: CacheKey
    let url: CacheURL
    var body: StagedBody
    var record: EntryRecord
    let lastUse: FileTime
    /// When its last byte had arrived; `nil` if that is not known.
    let stagedAt: ContinuousClock.Instant?
    /// Whether its file has a name, that of its partial for example.
    var isNamed = true
    /// Why it can't become an entry.
    var failure: Errno?

    init(_ image: StagedImage, isPinned: Bool, lastUse: FileTime) {
        (flight, key, url) = (image.flight, image.key, image.url)
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
    var descriptor: Int32 { file?.descriptor ?? -1 }

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
