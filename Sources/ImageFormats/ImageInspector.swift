/// Tells type, dimensions and completeness of an image from bytes that pass by once.
///
/// Takes chunks of any size, down to single bytes, and reports the same for each way of cutting.
/// Payload is skipped by its length; only headers are gathered, 64 KiB at the very most and a few
/// dozen bytes as a rule. No input traps. Checksums and pixels are not looked at.
package struct ImageInspector: Sendable {
    private var head: [UInt8] = []
    private var walk: ImageWalk?

    package init() {}

    /// `nil` until decided; ``MediaType/other`` once it is certain that this is no image we know.
    package var mediaType: MediaType? { walk?.mediaType }

    /// Takes the next bytes of the file.
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

    /// Says what the file is, now that all its bytes were consumed.
    package mutating func finish() -> ImageReport {
        if walk == nil { startWalk() }
        guard let walk, let mediaType = walk.mediaType, mediaType != .other else {
            return .notAnImage
        }
        let verdict = walk.verdict
        return ImageReport(
            mediaType: mediaType,
            width: walk.size?.width,
            height: walk.size?.height,
            completeness: verdict.completeness,
            hasTrailingBytes: verdict.hasTrailingBytes)
    }

    private mutating func startWalk() {
        var walk = ImageWalk(ImageSignature.walker(for: head))
        head.withUnsafeBytes { walk.consume($0) }
        self.walk = walk
        head = []
    }
}

extension ImageReport {
    fileprivate static let notAnImage = ImageReport(
        mediaType: nil, width: nil, height: nil,
        completeness: .unverifiable, hasTrailingBytes: false)
}
