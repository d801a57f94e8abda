/// Follows the structure of one image format from its first byte to its end.
///
/// A walker is a pure state machine. ``ImageWalk`` owns it, executes the steps that it asks for, and passes it
/// the bytes. On nonsense a walker asks for ``WalkStep/rest``, and its image then has no end.
protocol ImageWalker: Sendable {
    /// `nil` while undecided. ``MediaType/other`` if the file is not an image of a known format.
    var mediaType: MediaType? { get }

    /// The dimensions as stored. `nil` until found.
    var size: PixelSize? { get }

    /// The dimensions that a viewer shows, as far as the bytes so far show them. `nil` until found.
    var shownSize: PixelSize? { get }

    /// How a viewer turns the pixels. `nil` while later bytes can change it.
    var orientation: Orientation? { get }

    /// The step at offset 0.
    var firstStep: WalkStep { get }

    /// Receives the bytes that a ``WalkStep/Action/read(_:)`` asked for, and returns the next step.
    mutating func receive(_ field: ByteField) -> WalkStep

    /// Scans `bytes`, whose first one is at `offset`. Returns the number of bytes used and the next step.
    ///
    /// A scan uses at least one byte, or its next step is not a scan.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> ScanResult

    /// The verdict on a file that ends after the `length` bytes walked so far.
    func verdict(at length: UInt64) -> WalkVerdict
}

extension ImageWalker {
    typealias ScanResult = (taken: Int, step: WalkStep)

    var shownSize: PixelSize? { size?.turned(by: orientation ?? .upright) }

    /// For the formats that are never turned.
    var orientation: Orientation? { .upright }

    /// For the formats that never ask for a scan, which are most.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> ScanResult {
        (bytes.count, .rest)
    }
}
