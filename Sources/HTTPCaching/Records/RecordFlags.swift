internal import ImageFormats

/// The flags of a record: properties of the entry, and which of its optional fields are there.
///
/// The numbers are stored in files, so none of them ever changes. A reader ignores flags that it does not know.
struct RecordFlags: OptionSet {
    let rawValue: UInt32

    static let isPinned = RecordFlags(rawValue: 1)
    static let isGuessed = RecordFlags(rawValue: 2)
    static let mustRevalidate = RecordFlags(rawValue: 4)
    static let hasFreshness = RecordFlags(rawValue: 8)
    static let hasRemoval = RecordFlags(rawValue: 16)
    static let hasLifetime = RecordFlags(rawValue: 32)
    static let hasStaleWhileRevalidate = RecordFlags(rawValue: 64)
    static let hasStaleIfError = RecordFlags(rawValue: 128)
    static let isShareable = RecordFlags(rawValue: 256)
    static let isFromStore = RecordFlags(rawValue: 512)

    static let isPersonal = RecordFlags(rawValue: 8192)
    static let isRuled = RecordFlags(rawValue: 16384)
    static let awaitsAttributes = RecordFlags(rawValue: 32768)

    /// The number of the lowest of three bits with the orientation minus 1.
    private static let orientationShift: UInt32 = 10

    var orientation: Orientation {
        Orientation(minusOne: UInt64(rawValue >> Self.orientationShift))
    }
}

extension RecordFlags {
    init(_ record: EntryRecord) {
        let flags: [(RecordFlags, Bool)] = [
            (.isPinned, record.isPinned),
            (.isGuessed, record.terms.isGuessed),
            (.mustRevalidate, record.terms.mustRevalidate),
            (.hasFreshness, record.freshUntil != nil),
            (.hasRemoval, record.removeAt != nil),
            (.hasLifetime, record.terms.lifetime != nil),
            (.hasStaleWhileRevalidate, record.terms.staleWhileRevalidate != nil),
            (.hasStaleIfError, record.terms.staleIfError != nil),
            (.isShareable, record.isShareable),
            (.isFromStore, record.isFromStore),
            (.isPersonal, record.isPersonal), (.isRuled, record.terms.isRuled),
            (.awaitsAttributes, record.awaitsAttributes),
        ]
        let orientation = UInt32(record.orientation.rawValue - 1) << Self.orientationShift
        self = flags.reduce(into: Self(rawValue: orientation)) { if $1.1 { $0.insert($1.0) } }
    }
}
