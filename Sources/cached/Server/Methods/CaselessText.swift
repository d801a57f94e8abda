/// A text that is searched for without regard to upper and lower case of ASCII.
struct CaselessText: Sendable {
    private let bytes: [UInt8]

    init(_ text: String) {
        bytes = text.utf8.map { Self.lower($0) }
    }

    /// Whether it is somewhere in a text.
    func isPart(of text: String) -> Bool {
        let text = text.utf8.map { Self.lower($0) }
        guard let first = bytes.first else { return true }
        guard bytes.count <= text.count else { return false }
        return (0...(text.count - bytes.count)).contains { start in
            text[start] == first && text[start..<(start + bytes.count)].elementsEqual(bytes)
        }
    }

    private static func lower(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
}
