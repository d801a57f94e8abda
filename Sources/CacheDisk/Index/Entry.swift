internal import CacheKey
import CacheValues
internal import ImageFormats

/// The part of one entry that stays in memory, in 68 bytes. The digest, URL and validators stay in
/// the file.
///
/// Numbers of 64 bits are stored in halves, because whole ones would be aligned to 8 bytes.
struct Entry {
    private let keyHigh: Halves
    private let keyLow: Halves
    /// The next entries in the two chains of ``Chains``. The first is ``Index/free`` in a place without an entry.
    var nextByKey = Index.none
    var nextByContent = Index.none
    /// Neighbours in the order of use; `Index.none` at the ends.
    var older = Index.none
    var newer = Index.none
    /// Nanoseconds since 1970.
    private var lastUse: Halves
    /// Zero when unknown.
    var freshUntil: UInt32
    var fetchedAt: UInt32
    /// The first bytes of the digest; zero when unknown.
    let digestPrefix: UInt32
    /// Identifies the file among those with the same size and digest; zero when unknown.
    let file: UInt32
    private var packedMeasures: PackedMeasures
    let mediaType: MediaType
    private var flags: Flags

    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let isPinned = Flags(rawValue: 1)
        static let isLinked = Flags(rawValue: 2)
        static let isLarge = Flags(rawValue: 4)
        static let hasReturned = Flags(rawValue: 8)
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
        lastUse = Halves(UInt64(bitPattern: facts.lastUsedAt.nanoseconds))
        freshUntil = facts.freshUntil?.rawValue ?? 0
        fetchedAt = facts.fetchedAt.rawValue
        mediaType = facts.mediaType
        digestPrefix = facts.digestPrefix
        file = Self.file(facts.inode)
        packedMeasures = PackedMeasures(Measures(facts))
        flags = Flags(rawValue: (facts.orientation.rawValue - 1) << Flags.orientationShift)
        isPinned = facts.isPinned
        isLinked = facts.isLinked && file != 0
        hasReturned = facts.hasReturned
        set(.awaitsAttributes, facts.awaitsAttributes)
    }

    /// 32 bits of an inode's number. Most file systems have no larger numbers.
    static func file(_ inode: UInt64) -> UInt32 {
        UInt32(exactly: inode) ?? UInt32(truncatingIfNeeded: (inode &* 0x9E37_79B9_7F4A_7C15) >> 32)
    }

    var key: CacheKey { CacheKey(high: keyHigh.number, low: keyLow.number) }

    // MARK: Chains

    subscript(next chain: Chains.Kind) -> UInt32 {
        get { chain == .byKey ? nextByKey : nextByContent }
        set { if chain == .byKey { nextByKey = newValue } else { nextByContent = newValue } }
    }

    func hash(_ chain: Chains.Kind) -> UInt32 {
        chain == .byKey
            ? Self.hash(key) : Self.hash(digestPrefix: digestPrefix, file: file)
    }

    /// Keys are digests, so any of their bits are spread as evenly as hashed ones.
    static func hash(_ key: CacheKey) -> UInt32 { UInt32(truncatingIfNeeded: key.high >> 32) }

    /// The numbers of files follow each other, often at a distance that is a power of two. The highest bits of a product
    /// are spread evenly even so. Knuth, TAOCP 3, 6.4
    static func hash(digestPrefix: UInt32, file: UInt32) -> UInt32 {
        digestPrefix != 0 ? digestPrefix : (file &* 0x9E37_79B1).byteSwapped
    }

    /// Whether the place holds an entry. `false` for a free place that can get a new entry.
    var isOccupied: Bool { nextByKey != Index.free }

    // MARK: Use

    /// Nanoseconds since 1970.
    var lastUsedAt: Int64 {
        get { Int64(bitPattern: lastUse.number) }
        set { lastUse = Halves(UInt64(bitPattern: newValue)) }
    }

    /// The usage class.
    var usageClass: UsageClass {
        isPinned ? .pinned : hasReturned || counts(useAt: lastUsedAt) ? .used : .unused
    }

    /// Whether a use at this time, in nanoseconds since 1970, counts. A use in the first seconds belongs to the request
    /// that fetched the image.
    func counts(useAt time: Int64) -> Bool {
        time / 1_000_000_000 >= Int64(fetchedAt) + EntryFacts.firstUse
    }

    // MARK: Facts

    var isPinned: Bool {
        get { flags.contains(.isPinned) }
        set { set(.isPinned, newValue) }
    }

    /// Whether other names can lead to its file.
    var isLinked: Bool {
        get { flags.contains(.isLinked) }
        set { set(.isLinked, newValue) }
    }

    /// Whether it was evicted before it was used, and came back.
    var hasReturned: Bool {
        get { flags.contains(.hasReturned) }
        set { set(.hasReturned, newValue) }
    }

    private mutating func set(_ flag: Flags, _ isSet: Bool) {
        if isSet { flags.insert(flag) } else { flags.remove(flag) }
    }

    /// `nil` if they are too large, so that ``Index/large`` has them.
    var measures: Measures? { flags.contains(.isLarge) ? nil : packedMeasures.measures }

    /// Returns whether they are small enough.
    mutating func setMeasures(_ measures: Measures) -> Bool {
        packedMeasures = PackedMeasures(measures)
        let fits = packedMeasures.measures == measures
        set(.isLarge, !fits)
        return fits
    }

    func facts(_ measures: Measures) -> EntryFacts {
        EntryFacts(
            size: measures.size, allocated: measures.allocated, mediaType: mediaType,
            width: measures.width == 0 ? nil : Int(measures.width),
            height: measures.height == 0 ? nil : Int(measures.height),
            orientation: Orientation(minusOne: UInt64(flags.rawValue >> Flags.orientationShift)),
            fetchedAt: UnixTime(rawValue: fetchedAt),
            freshUntil: freshUntil == 0 ? nil : UnixTime(rawValue: freshUntil),
            lastUsedAt: FileTime(nanoseconds: lastUsedAt), isPinned: isPinned,
            inode: UInt64(file), isLinked: isLinked, digestPrefix: digestPrefix,
            awaitsAttributes: flags.contains(.awaitsAttributes), hasReturned: hasReturned)
    }
}
