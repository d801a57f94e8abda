extension UnsafeRawBufferPointer {
    /// The first index at or after `start` that has `byte`, or `count` if no index has it.
    ///
    /// Compares eight bytes at a time. A byte of `x` is zero if the word has `byte` there, and
    /// `(x - 0x01…01) & ~x & 0x80…80` has its lowest bit in the first such byte: the borrow of a
    /// subtraction travels upwards only (Warren, *Hacker's Delight*, 6-1).
    func firstIndex(of byte: UInt8, from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let pattern = ones &* UInt64(byte)
        var index = start
        while index &+ 8 <= count {
            let word = UInt64(littleEndian: loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let x = word ^ pattern
            let zeros = (x &- ones) & ~x & (ones << 7)
            if zeros != 0 { return index &+ zeros.trailingZeroBitCount / 8 }
            index &+= 8
        }
        while index < count, self[index] != byte { index &+= 1 }
        return index
    }

    /// The first index at or after `start` whose byte is not zero, or `count` if there is none.
    func firstIndex(notZeroFrom start: Int) -> Int {
        var index = start
        while index &+ 8 <= count, loadUnaligned(fromByteOffset: index, as: UInt64.self) == 0 {
            index &+= 8
        }
        while index < count, self[index] == 0 { index &+= 1 }
        return index
    }
}
