/// Finds the type, the dimensions and the completeness of an image while its bytes stream past once.
///
///     var inspector = ImageInspector()
///     for chunk in chunks { chunk.withUnsafeBytes { inspector.consume($0) } }
///     let report = inspector.finish()
///
/// The chunks can have any size, and the report does not depend on it. Payload is skipped by its length. Only
/// headers are kept in memory: usually a few dozen bytes, and never more than 64 KiB. No input traps.
/// Checksums and pixels are not checked.
package struct ImageInspector: Sendable {
    private var head: [UInt8] = []
    private var walk: ImageWalk?
    /// Whether the first bytes are text, as of HTML, XML, JSON and SVG. Meaningful once ``mediaType`` is known.
    package private(set) var isText = false

    package init() {}

    /// The type of the image. `nil` until it is known. ``MediaType/other`` if the file is not an image of a
    /// known format.
    package var mediaType: MediaType? { walk?.walker.mediaType }

    /// The dimensions as stored, which a decoder needs memory for. `nil` until they are known.
    package var storedSize: PixelSize? { walk?.walker.size }

    /// The type and the dimensions as far as the bytes so far show them. `nil` if they are not known to be an image.
    /// The dimensions are `nil` until it is known how the image is turned.
    package var shape: ImageShape? {
        guard let walker = walk?.walker, let mediaType = walker.mediaType, mediaType != .other
        else { return nil }
        guard let orientation = walker.orientation, let size = walker.shownSize else {
            return ImageShape(mediaType: mediaType)
        }
        return ImageShape(
            mediaType: mediaType, width: size.width, height: size.height, orientation: orientation)
    }

    /// Reads the next bytes of the file.
    package mutating func consume(_ bytes: UnsafeRawBufferPointer) {
        if walk != nil {
            walk?.consume(bytes)
            return
        }
        let taken = Swift.min(bytes.count, ImageSignature.headLength - head.count)
        head.append(contentsOf: bytes.prefix(taken))
        guard head.count == ImageSignature.headLength else { return }
        startWalk()
        walk?.consume(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(taken)))
    }

    /// Returns the report after the last byte of the file.
    package mutating func finish() -> ImageReport {
        if walk == nil { startWalk() }
        guard let walk, let mediaType, mediaType != .other else { return .notAnImage }
        let (verdict, size) = (walk.verdict, walk.walker.shownSize)
        return ImageReport(
            mediaType: mediaType,
            width: size?.width,
            height: size?.height,
            orientation: size == nil ? .upright : walk.walker.orientation ?? .upright,
            completeness: verdict.completeness,
            hasTrailingBytes: verdict.hasTrailingBytes)
    }

    private mutating func startWalk() {
        var walk = ImageWalk(ImageSignature.walker(for: head))
        head.withUnsafeBytes { walk.consume($0) }
        self.walk = walk
        isText = !head.isEmpty && head.isText
        head = []
    }
}

extension [UInt8] {
    /// Whether these bytes are text in UTF-16, or in another encoding without control characters.
    /// WHATWG MIME Sniffing §3, "binary data byte".
    fileprivate var isText: Bool {
        if starts(with: [0xFE, 0xFF]) || starts(with: [0xFF, 0xFE]) { return true }
        return allSatisfy { $0 >= 0x20 || [0x09, 0x0A, 0x0C, 0x0D, 0x1B].contains($0) }
    }
}

extension ImageReport {
    fileprivate static let notAnImage = ImageReport(
        mediaType: nil, width: nil, height: nil, orientation: .upright,
        completeness: .unverifiable, hasTrailingBytes: false)
}
