/// Images that are committed together.
struct PublicationBatch: Sendable {
    private(set) var images: [BatchImage] = []
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
    mutating func item(of image: StagedImage, isPinned: Bool) -> BatchImage {
        defer { nextUse = nextUse.successor }
        return BatchImage(image, isPinned: isPinned, lastUse: nextUse)
    }

    mutating func append(_ image: BatchImage) {
        images.append(image)
    }

    /// Empties the batch.
    mutating func takeImages() -> [BatchImage] {
        defer { images = [] }
        return images
    }
}
