internal import CacheKey
import CacheValues
internal import ImageFormats

/// The part of one entry that stays in memory, in 72 bytes. The digest, URL and validators stay in
/// the file.
///
/// Numbers of 64 bits are stored in halves, because whole ones would be aligned to 8 bytes.
struct Entry {
    private let keyHigh: Halves
    private let keyLow: Halves
    /// Nanoseconds since 1970.
    private var lastUse: Halves
    /// Bytes of the image: the lower 32 bits, and the 16 above them.
    private var sizeLow: UInt32
    private var sizeHigh: UInt16
    private var flags: Flags
    var mediaType: MediaType
    /// Disk blocks of 512 bytes, attributes included.
    var blocks: UInt32
    /// Zero when unknown.
    var freshUntil: UInt32
    var fetchedAt: UInt32
    /// Pixels as shown; zero when unknown.
    var width: UInt32
    var height: UInt32
    /// Neighbours in the order of use; `Index.none` at the ends.
    var older = Index.none
    var newer = Index.none
    /// The first bytes of the digest; zero when unknown.
    var digestPrefix: UInt32
    /// Identifies the file among those with the same size and digest; zero when unknown.
    let file: UInt32
    /// The next entry in the chain of ``FileChains``.
    var nextAlike = Index.unchained

    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let isPinned = Flags(rawValue: 1)
        static let isOccupied = Flags(rawValue: 2)
        static let isLinked = Flags(rawValue: 4)
        static let isCounted = Flags(rawValue: 8)
        /// The number of the lowest of three bits with the orientation minus 1.
        static let orientationShift: UInt8 = 4
        static let awaitsAttributes = Flags(rawValue: 128)
    }

    /// A number of 64 bits that needs no more alignment than its halves.
    private struct Halves {
        let low: UInt32
        let high: UInt32

        init(_ number: UInt64) {
            low = UInt32(truncatingIfNeeded: number)
            high = UInt32(truncatingIfNeeded: number >> 32)
        }

        var number: UInt64 { UInt64(high) << 32 | UInt64(low) }
    }

    init(_ key: CacheKey, _ facts: EntryFacts) {
        (keyHigh, keyLow) = (Halves(key.high), Halves(key.low))
        let size = UInt64(clamping: facts.size)
        sizeLow = UInt32(truncatingIfNeeded: size)
        sizeHigh = UInt16(clamping: size >> 32)
        lastUse = Halves(UInt64(bitPattern: facts.lastUsedAt.nanoseconds))
        blocks = UInt32(clamping: facts.allocated / 512)
        freshUntil = facts.freshUntil?.rawValue ?? 0
        fetchedAt = facts.fetchedAt.rawValue
        width = UInt32(clamping: facts.width ?? 0)
        height = UInt32(clamping: facts.height ?? 0)
        mediaType = facts.mediaType
        digestPrefix = facts.digestPrefix
        file = Self.file(facts.inode)
        flags = Flags(rawValue: (facts.orientation.rawValue - 1) << Flags.orientationShift)
        isOccupied = true
        isPinned = facts.isPinned
        isLinked = facts.isLinked && file != 0
        set(.awaitsAttributes, facts.awaitsAttributes)
    }

    /// 32 bits of an inode's number. Most file systems have no larger numbers.
    static func file(_ inode: UInt64) -> UInt32 {
        UInt32(exactly: inode) ?? UInt32(truncatingIfNeeded: (inode &* 0x9E37_79B9_7F4A_7C15) >> 32)
    }

    var key: CacheKey { CacheKey(high: keyHigh.number, low: keyLow.number) }

    /// Bytes of the image.
    var size: Int64 { Int64(sizeHigh) << 32 | Int64(sizeLow) }

    /// Nanoseconds since 1970.
    var lastUsedAt: Int64 {
        get { Int64(bitPattern: lastUse.number) }
        set { lastUse = Halves(UInt64(bitPattern: newValue)) }
    }

    /// The usage class.
    var usageClass: UsageClass { isPinned ? .pinned : counts(useAt: lastUsedAt) ? .used : .unused }

    /// Whether a use at this time, in nanoseconds since 1970, counts. A use in the first seconds belongs to the request
    /// that fetched the image.
    func counts(useAt time: Int64) -> Bool {
        time / 1_000_000_000 >= Int64(fetchedAt) + EntryFacts.firstUse
    }

    var isPinned: Bool {
        get { flags.contains(.isPinned) }
        set { set(.isPinned, newValue) }
    }

    /// Whether the place holds an entry. `false` for a free place that can get a new entry.
    var isOccupied: Bool {
        get { flags.contains(.isOccupied) }
        set { set(.isOccupied, newValue) }
    }

    /// Whether other names can lead to its file.
    var isLinked: Bool {
        get { flags.contains(.isLinked) }
        set { set(.isLinked, newValue) }
    }

    /// Whether the bytes of its file are counted with this entry. One of the names of each file has them.
    var isCounted: Bool {
        get { flags.contains(.isCounted) }
        set { set(.isCounted, newValue) }
    }

    private mutating func set(_ flag: Flags, _ isSet: Bool) {
        if isSet { flags.insert(flag) } else { flags.remove(flag) }
    }

    /// Bytes that the disk holds for the file.
    var allocated: Int64 { Int64(blocks) * 512 }

    /// Whether both entries are names of one file, if both have links.
    func isSameFile(as other: Entry) -> Bool {
        file == other.file && digestPrefix == other.digestPrefix && size == other.size
    }

    var facts: EntryFacts {
        EntryFacts(
            size: size, allocated: allocated, mediaType: mediaType,
            width: width == 0 ? nil : Int(width), height: height == 0 ? nil : Int(height),
            orientation: Orientation(minusOne: UInt64(flags.rawValue >> Flags.orientationShift)),
            fetchedAt: UnixTime(rawValue: fetchedAt),
            freshUntil: freshUntil == 0 ? nil : UnixTime(rawValue: freshUntil),
            lastUsedAt: FileTime(nanoseconds: lastUsedAt), isPinned: isPinned,
            inode: UInt64(file), isLinked: isLinked, digestPrefix: digestPrefix,
            awaitsAttributes: flags.contains(.awaitsAttributes))
    }
}
