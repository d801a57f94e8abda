/// Chooses the walker for a file by its first bytes.
///
/// Signatures as in WHATWG MIME Sniffing §6.1 (<https://mimesniff.spec.whatwg.org/>), and for what
/// it leaves out the specification each walker names.
enum ImageSignature {
    /// Bytes that settle every format with a signature: six of ICO's header and its first entry.
    static let headLength = 22

    /// The walker for a file that starts with `head`; shorter only if the whole file is.
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

    /// Two letters prove little, so the header size has to be one that was ever defined.
    private static func isBMP(_ head: ByteField) -> Bool {
        guard head.holds("BM"), head.bytes.count >= 18 else { return false }
        return BMPWalker.headerSizes.contains(head.little(UInt32.self, at: 14))
    }

    /// Four bytes prove little, so the first entry has to lie behind the directory.
    private static func isICO(_ head: ByteField) -> Bool {
        guard head.holds([0, 0, 1, 0]), head.bytes.count >= 22 else { return false }
        let count = head.little(UInt16.self, at: 4)
        return count > 0 && head.little(UInt32.self, at: 18) >= ICOWalker.directorySize(count)
    }
}
