internal import CacheKey

/// What the cache remembers of an entry beside its bytes: one line of text in one extended attribute.
///
///     v1 size=22031 type=image/png width=640 height=480 fetched=1790000000 fresh=1790003600 …
///
/// Fields are separated by single spaces and written in a fixed order; absent ones are left out. A
/// reader skips fields it does not know. `docs/disk-format.md` is the reference.
public struct EntryRecord: Hashable, Sendable {
    /// Bytes of the image; a file of another size is damaged.
    public var size: Int64
    public var mediaType: MediaType
    /// Pixels, where the format was understood that far.
    public var width: Int?
    public var height: Int?
    /// When the bytes were last received from the origin.
    public var fetchedAt: UnixTime
    /// Until when the origin said they may be used without asking again (RFC 9111 §4.2).
    public var freshUntil: UnixTime?
    /// What a conditional request may name.
    public var validators: Validators
    /// Kept by the user whatever the budget says.
    public var isPinned: Bool
    /// What may be done with it once it is stale.
    public var terms = ReuseTerms()
    /// When an image that may not be kept is to be removed (`no-store`); `nil` for all others.
    public var removeAt: UnixTime?

    /// The version this code writes and the only one it reads.
    static let version = "v1"

    /// What stands in the place of a damaged entry's record if that was pinned. It is no record, and so the
    /// file no entry; whatever takes its place is pinned again.
    static let pinOfDamaged = "damaged pinned=1"

    /// The attribute that holds the record of a key: `user.cached.` and the first eight hex digits of
    /// the name, so that one day several names can share one file.
    static func attributeName(of key: CacheKey) -> String {
        let digits = String(UInt32(truncatingIfNeeded: key.high >> 32), radix: 16)
        return "user.cached." + String(repeating: "0", count: 8 - digits.count) + digits
    }
}

extension EntryRecord {
    /// The attribute's value.
    var text: String {
        var text = Self.version
        // Room for a usual one: it is made for every image that is published.
        text.reserveCapacity(192)
        func add(_ name: String, _ value: String?) {
            guard let value else { return }
            text += " "
            text += name
            text += "="
            text += value
        }
        func add(_ name: String, _ time: UnixTime?) {
            add(name, time.map { String($0.rawValue) })
        }
        add("size", String(size))
        add("type", mediaType.name)
        if let width, let height {
            add("width", String(width))
            add("height", String(height))
        }
        add("fetched", fetchedAt)
        add("fresh", freshUntil)
        add("pinned", isPinned ? "1" : nil)
        terms.forEachField { add($0, $1) }
        add("remove", removeAt)
        add("at", validators.isEmpty ? nil : validators.source?.description)
        add("modified", validators.lastModified)
        add("etag", validators.entityTag)
        RecordChecksum.seal(&text)
        return text
    }

    /// Parses an attribute's value; `nil` when it is not a record of this version, or not as it was
    /// written. Runs for every file of a scan, so it makes no strings but the entity tag's.
    init?(text bytes: UnsafeRawBufferPointer) {
        var fields = bytes.split(separator: UInt8(ascii: " ")).makeIterator()
        guard let version = fields.next(), version.elementsEqual(Self.version.utf8),
            RecordChecksum.agrees(bytes)
        else { return nil }
        self.init(
            size: -1, mediaType: .other, width: nil, height: nil, fetchedAt: UnixTime(rawValue: 0),
            freshUntil: nil, validators: Validators(), isPinned: false)
        while let field = fields.next() {
            guard let separator = field.firstIndex(of: UInt8(ascii: "=")),
                take(field[..<separator], field[field.index(after: separator)...])
            else { return nil }
        }
        guard size >= 0 else { return nil }
    }

    /// Takes one field; `false` if its value can't be that field's.
    private mutating func take(
        _ name: Slice<UnsafeRawBufferPointer>, _ value: Slice<UnsafeRawBufferPointer>
    ) -> Bool {
        switch name.count {
        case 2 where name.elementsEqual("at".utf8):
            validators.source = ResponseSource(String(decoding: value, as: UTF8.self))
        case 4 where name.elementsEqual("size".utf8):
            guard let number = decimal(value) else { return false }
            size = number
        case 4 where name.elementsEqual("type".utf8):
            mediaType = MediaType(name: String(decoding: value, as: UTF8.self)) ?? .other
        case 4 where name.elementsEqual("etag".utf8):
            validators.entityTag = String(decoding: value, as: UTF8.self)
        case 5 where name.elementsEqual("width".utf8):
            width = decimal(value).map(Int.init)
        case 6 where name.elementsEqual("height".utf8):
            height = decimal(value).map(Int.init)
        case 6 where name.elementsEqual("pinned".utf8):
            isPinned = decimal(value) == 1
        default:
            return takeTerm(name, value)
        }
        return true
    }

    private mutating func takeTerm(
        _ name: Slice<UnsafeRawBufferPointer>, _ value: Slice<UnsafeRawBufferPointer>
    ) -> Bool {
        switch name.count {
        case 3 where name.elementsEqual("swr".utf8):
            terms.staleWhileRevalidate = decimal(value)
        case 3 where name.elementsEqual("sie".utf8):
            terms.staleIfError = decimal(value)
        case 6 where name.elementsEqual("strict".utf8):
            terms.mustRevalidate = decimal(value) == 1
        case 7 where name.elementsEqual("guessed".utf8):
            terms.isGuessed = decimal(value) == 1
        case 8 where name.elementsEqual("lifetime".utf8):
            terms.lifetime = decimal(value)
        default:
            return takeTime(name, value)
        }
        return true
    }

    private mutating func takeTime(
        _ name: Slice<UnsafeRawBufferPointer>, _ value: Slice<UnsafeRawBufferPointer>
    ) -> Bool {
        let isFetched = name.elementsEqual("fetched".utf8)
        let isFresh = name.elementsEqual("fresh".utf8)
        let isModified = name.elementsEqual("modified".utf8)
        let isRemove = name.elementsEqual("remove".utf8)
        guard isFetched || isFresh || isModified || isRemove else { return true }
        guard let seconds = decimal(value) else { return false }
        let time = UnixTime(clamping: seconds)
        if isFetched { fetchedAt = time }
        if isFresh { freshUntil = time }
        if isModified { validators.lastModified = time }
        if isRemove { removeAt = time }
        return true
    }
}

/// A decimal number without a sign, at most 18 digits.
private func decimal(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int64? {
    guard !bytes.isEmpty, bytes.count <= 18 else { return nil }
    var number: Int64 = 0
    for byte in bytes {
        guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
        number = number * 10 + Int64(byte - UInt8(ascii: "0"))
    }
    return number
}
