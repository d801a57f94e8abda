/// Follows the structure of one image format from its first byte to its end.
///
/// A pure state machine: ``ImageWalk`` owns it, carries out the steps it asks for and hands it
/// what they yield. A walker that meets nonsense asks for ``WalkStep/rest`` and lacks its end.
protocol ImageWalker: Sendable {
    /// `nil` while undecided; ``MediaType/other`` if this turns out to be no image we know.
    var mediaType: MediaType? { get }

    /// `nil` until found.
    var size: PixelSize? { get }

    /// What to do at offset 0.
    var firstStep: WalkStep { get }

    /// Takes the bytes a ``WalkStep/Action/read(_:)`` asked for, and says how to go on.
    mutating func receive(_ field: ByteField) -> WalkStep

    /// Looks through `bytes`, which lie at `offset`, and says how many it took and how to go on.
    ///
    /// Takes at least one byte, or asks for something else than another scan.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> ScanResult

    /// Whether some of the image is missing where the file ends within what the walker passes over.
    var missesWhatIsCut: Bool { get }

    /// The verdict if the file were `length` bytes long: as many as have been walked.
    func verdict(at length: UInt64) -> WalkVerdict
}

extension ImageWalker {
    typealias ScanResult = (taken: Int, step: WalkStep)

    var missesWhatIsCut: Bool { true }

    /// Most formats never ask for a scan.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> ScanResult {
        (bytes.count, .rest)
    }
}
