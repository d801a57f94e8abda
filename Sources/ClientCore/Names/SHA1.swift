/// SHA-1 (RFC 3174), used only for names and never for security.
struct SHA1 {
    private var state: (UInt32, UInt32, UInt32, UInt32, UInt32) = (
        0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0
    )

    /// The first 16 of the 20 bytes of the digest of all parts together.
    static func digest(_ first: [UInt8], _ rest: UnsafeRawBufferPointer) -> (UInt64, UInt64) {
        var sha = SHA1()
        let count = first.count + rest.count
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { block in
            var used = 0
            func add(_ byte: UInt8) {
                block[used] = byte
                used += 1
                if used == 64 {
                    sha.consume(block)
                    used = 0
                }
            }
            for byte in first { add(byte) }
            for byte in rest { add(byte) }
            add(0x80)
            while used != 56 { add(0) }
            let bits = UInt64(count) * 8
            for shift in stride(from: 56, through: 0, by: -8) {
                add(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
            }
        }
        let (a, b, c, d, _) = sha.state
        return (UInt64(a) << 32 | UInt64(b), UInt64(c) << 32 | UInt64(d))
    }

    private mutating func consume(_ block: UnsafeMutableBufferPointer<UInt8>) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 80) { words in
            for index in 0..<16 {
                words[index] =
                    UInt32(block[4 * index]) << 24 | UInt32(block[4 * index + 1]) << 16
                    | UInt32(block[4 * index + 2]) << 8 | UInt32(block[4 * index + 3])
            }
            for index in 16..<80 {
                let word =
                    words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16]
                words[index] = word << 1 | word >> 31
            }
            var (a, b, c, d, e) = state
            for index in 0..<80 {
                let (mix, constant) = Self.round(index, b, c, d)
                let next = (a << 5 | a >> 27) &+ mix &+ e &+ constant &+ words[index]
                (e, d, c, b, a) = (d, c, b << 30 | b >> 2, a, next)
            }
            state = (
                state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e
            )
        }
    }

    private static func round(
        _ index: Int, _ b: UInt32, _ c: UInt32, _ d: UInt32
    ) -> (UInt32, UInt32) {
        switch index {
        case ..<20: (b & c | ~b & d, 0x5A82_7999)
        case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
        case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
        default: (b ^ c ^ d, 0xCA62_C1D6)
        }
    }
}
