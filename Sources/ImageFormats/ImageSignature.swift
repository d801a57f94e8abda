/// Chooses the walker for a file by its first bytes.
///
/// The signatures follow WHATWG MIME Sniffing §6.1 (<https://mimesniff.spec.whatwg.org/>). WebP is recognised without
/// the `VP` that the standard adds; BMP and ICO have to pass a further check. For the formats that the standard
/// leaves out, see the specification that the walker names.
enum ImageSignature {
    /// Bytes that are enough to recognise every format with a signature. ICO needs most: its header of six bytes and
    /// its first entry.
    static let headLength = 22

    /// The walker for a file.
    ///
    /// - Parameter head: the first ``headLength`` bytes, or the whole file if it is shorter.
    static func walker(for head: [UInt8]) -> any ImageWalker {
        let head = ByteField(bytes: head, offset: 0)
        if let walker = signed(head) { return walker }
        if isBMP(head) { return BMPWalker() }
        if isICO(head) { return ICOWalker() }
        return SVGWalker()
    }

    private static func signed(_ head: ByteField) -> (any ImageWalker)? {
        if head.holds([0xFF, 0xD8, 0xFF]) { return JPEGWalker() }
        if head.holds([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return PNGWalker() }
        if head.holds("GIF87a") || head.holds("GIF89a") { return GIFWalker() }
        if head.holds("RIFF"), head.holds("WEBP", at: 8) { return WebPWalker() }
        if head.holds("ftyp", at: 4) { return HEIFWalker() }
        if head.holds([0xFF, 0x0A]) { return JXLCodestreamWalker() }
        if head.holds(JXLContainerWalker.signature) { return JXLContainerWalker() }
        if let variant = TIFFVariant(head) { return TIFFWalker(variant) }
        return nil
    }

    /// Two letters prove little, so the size of the header has to be a defined one too.
    private static func isBMP(_ head: ByteField) -> Bool {
        guard head.holds("BM"), head.bytes.count >= 18 else { return false }
        return BMPWalker.headerSizes.contains(head.little(UInt32.self, at: 14))
    }

    /// The third byte is 1 for an icon and 2 for a cursor. Four bytes prove little, so the first image has to
    /// be behind the directory too.
    private static func isICO(_ head: ByteField) -> Bool {
        guard head.holds([0, 0, 1, 0]) || head.holds([0, 0, 2, 0]), head.bytes.count >= 22 else {
            return false
        }
        let count = head.little(UInt16.self, at: 4)
        return count > 0 && head.little(UInt32.self, at: 18) >= ICOWalker.directorySize(count)
    }
}
