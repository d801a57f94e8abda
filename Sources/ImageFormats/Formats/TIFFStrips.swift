/// The strips or tiles of one directory. The one that starts last ends the pixels.
///
/// It asks for the offsets of all strips, and then for the length of the last one.
struct TIFFStrips: Sendable {
    /// Numbers of the same width, outside of their entry.
    struct List: Sendable {
        let offset: UInt64
        let width: Int
        let count: Int
    }

    enum Next: Sendable {
        case read(List)
        /// Offset of the byte after the pixels.
        case ended(UInt64)
        /// The directory does not say enough.
        case unknown
    }

    /// Numbers that are read at once.
    private static let batch: UInt64 = 512

    private let offsets: TIFFEntry
    private let lengths: TIFFEntry?
    /// Bytes of all pixels together. `nil` if they are compressed.
    private let uncompressedLength: UInt64?
    /// Offsets taken so far.
    private var taken: UInt64 = 0
    /// The strip that starts last. A sparse file leaves out strips, whose offsets are 0.
    private var last: (index: UInt64, offset: UInt64)?
    private var lastLength: UInt64?

    init(offsets: TIFFEntry, lengths: TIFFEntry?, uncompressedLength: UInt64?) {
        self.offsets = offsets
        self.lengths = lengths
        self.uncompressedLength = uncompressedLength
        while let offset = offsets.number(taken) { take(offset) }
        lastLength = last.flatMap { lengths?.number($0.index) }
    }

    var next: Next {
        if taken < offsets.count { return read(offsets, from: taken) }
        guard let last, let lengths else { return .unknown }
        guard let lastLength else { return read(lengths, from: last.index, atMost: 1) }
        return .ended(last.offset.plusClamped(neededLength(lastLength)))
    }

    /// Offset of the byte after the last one that has to be there: the lists, and the only strip or the start of
    /// the last of several.
    var neededEnd: UInt64 {
        let listsEnd = max(offsets.end, lengths?.end ?? 0)
        guard let last else { return listsEnd }
        let length = offsets.count == 1 ? neededLength(lastLength ?? 1) : 1
        return max(listsEnd, last.offset.plusClamped(length))
    }

    /// Takes the numbers that ``next`` asked for.
    mutating func take(_ numbers: [UInt64]) {
        if taken < offsets.count {
            for offset in numbers { take(offset) }
            lastLength = last.flatMap { lengths?.number($0.index) }
        } else {
            lastLength = numbers.first
        }
    }

    private mutating func take(_ offset: UInt64) {
        if offset > last?.offset ?? 0 { last = (taken, offset) }
        taken += 1
    }

    private func read(
        _ entry: TIFFEntry, from index: UInt64, atMost limit: UInt64 = Self.batch
    ) -> Next {
        guard let start = entry.start, let width = entry.width, index < entry.count else {
            return .unknown
        }
        let offset = start.plusClamped(index.timesClamped(UInt64(width)))
        return .read(
            List(offset: offset, width: width, count: Int(min(entry.count - index, limit))))
    }

    /// Bytes of the last strip. Some files claim a single strip that is far too long. Decoders of uncompressed
    /// pixels read only the bytes that the dimensions need, and so does this.
    private func neededLength(_ stated: UInt64) -> UInt64 {
        guard offsets.count == 1, let uncompressedLength else { return stated }
        return min(stated, uncompressedLength)
    }
}
