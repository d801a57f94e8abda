import CacheValues
internal import ImageFormats

extension EntryRecord {
    /// The first word of a record as text.
    package static let textVersion = "v1"

    /// Parses the text of a ``StoreRecord``, which holds the validators too. `nil` if it is not such a record.
    init?(text bytes: UnsafeRawBufferPointer) {
        var fields = bytes.split(separator: UInt8(ascii: " ")).makeIterator()
        guard let version = fields.next(), version.elementsEqual(Self.textVersion.utf8) else {
            return nil
        }
        self.init(
            size: -1, mediaType: .other, width: nil, height: nil, fetchedAt: UnixTime(rawValue: 0),
            freshUntil: nil, validators: Validators(), isPinned: false)
        while let field = fields.next() {
            guard let separator = field.firstIndex(of: UInt8(ascii: "=")),
                set(field[..<separator], field[field.index(after: separator)...])
            else { return nil }
        }
        guard size >= 0 else { return nil }
    }

    /// Sets one field. Returns `false` if the field cannot have this value.
    private mutating func set(
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
        default:
            return setTerm(name, value)
        }
        return true
    }

    private mutating func setTerm(
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
            return setTime(name, value)
        }
        return true
    }

    private mutating func setTime(
        _ name: Slice<UnsafeRawBufferPointer>, _ value: Slice<UnsafeRawBufferPointer>
    ) -> Bool {
        let isFetched = name.elementsEqual("fetched".utf8)
        let isFresh = name.elementsEqual("fresh".utf8)
        let isModified = name.elementsEqual("modified".utf8)
        guard isFetched || isFresh || isModified else { return true }
        guard let seconds = decimal(value) else { return false }
        let time = UnixTime(clamping: seconds)
        if isFetched { fetchedAt = time }
        if isFresh { freshUntil = time }
        if isModified { validators.lastModified = time }
        return true
    }
}

/// Parses a decimal number of at most 18 digits, without a sign.
private func decimal(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int64? {
    guard !bytes.isEmpty, bytes.count <= 18 else { return nil }
    var number: Int64 = 0
    for byte in bytes {
        guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
        number = number * 10 + Int64(byte - UInt8(ascii: "0"))
    }
    return number
}
