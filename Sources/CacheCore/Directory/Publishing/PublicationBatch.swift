import CacheValues
import HTTPCaching

/// Images that are committed together.
struct PublicationBatch: Sendable {
    private(set) var images: [StagedImage] = []
    /// The position of the first image with each digest that has a file of its own.
    private var originals: [ContentDigest: Int] = [:]
    /// The digests of the images that another thread commits meanwhile.
    private var others: Set<ContentDigest>
    /// Images with one of these digests. They are prepared once the others are entries.
    private var postponed: [StagedImage] = []

    /// - Parameter other: a batch that is being committed.
    init(beside other: PublicationBatch? = nil) {
        others = other.map { Set($0.originals.keys) } ?? []
    }
    /// The time of use of the next image: at least a nanosecond after that of the image before.
    private var nextUse = FileTime(nanoseconds: 0)

    var count: Int { images.count }

    /// Whether any of its images can become an entry.
    var isPromising: Bool { images.contains { $0.failure == nil } }

    /// Images that are added from now on are used at this time or later.
    mutating func advance(to now: FileTime) {
        nextUse = max(nextUse, now)
    }

    /// An image to prepare for this batch. Every call has a later time of use.
    mutating func item(of image: StagedImage, isPinned: Bool) -> StagedImage {
        defer { nextUse = nextUse.successor }
        var item = image
        (item.record.isPinned, item.lastUse) = (isPinned, nextUse)
        item.record.awaitsAttributes = false
        return item
    }

    mutating func append(_ image: StagedImage, _ digest: ContentDigest) {
        if image.failure == nil, image.original == nil { originals[digest] = images.count }
        images.append(image)
    }

    /// The image of the batch that has the file with a digest, and its position.
    func original(_ digest: ContentDigest) -> (file: StagingFile, position: Int)? {
        guard let position = originals[digest], let file = images[position].body.file else {
            return nil
        }
        return (file, position)
    }

    // MARK: Waiting for another batch

    /// Keeps an image for later, if its bytes are just being committed as those of another. Returns `false` if it
    /// need not wait.
    mutating func postpones(_ image: StagedImage, _ digest: ContentDigest) -> Bool {
        guard others.contains(digest) else { return false }
        postponed.append(image)
        return true
    }

    var hasPostponed: Bool { !postponed.isEmpty }

    /// The other batch is committed. Returns the images that waited for it.
    mutating func takeOthersEnded() -> [StagedImage] {
        others = []
        defer { postponed = [] }
        return postponed
    }

    /// Empties the batch.
    mutating func takeImages() -> [StagedImage] {
        defer { images = [] }
        return images
    }
}
