package import CacheKey
import CacheValues

/// The facts that identify the bytes of an entry: their digest, and the validators that the origin sent with them.
/// One line of text in one extended attribute.
///
///     v2 sha256=b402668de7212c56… modified=1780000000 etag="x1" sum=b79b9b11
///
/// It is read before a request to the origin, for details and in a verification. A scan never reads it.
/// `docs/lookup/disk-format.md` is the reference.
package struct ValidatorRecord: Hashable, Sendable {
    /// SHA-256 of the bytes, in 64 hex digits.
    package var digest: String?
    package var validators: Validators

    package init(digest: String?, validators: Validators) {
        self.digest = digest
        self.validators = validators
    }

    private static let version: StaticString = "v2"

    /// The name of the attribute with the validators of a key. It belongs to one name, like that of the record.
    package static func attributeName(of key: CacheKey) -> String {
        EntryAttributes.name(of: key, ".validators")
    }

    /// The same without the validators, for inodes that have too little room for attributes. The origin sends them
    /// again.
    package var bare: ValidatorRecord { ValidatorRecord(digest: digest, validators: Validators()) }

    /// The value of the attribute.
    package var text: String {
        var text = Self.version.description
        // A usual value has this size. One is made for every image that is published.
        text.reserveCapacity(192)
        func add(_ name: String, _ value: String?) {
            guard let value else { return }
            text += " "
            text += name
            text += "="
            text += value
        }
        add("sha256", digest)
        add("of", validators.original.map { String($0, radix: 16) })
        add("at", validators.isEmpty ? nil : validators.source?.description)
        add("modified", validators.lastModified.map { String($0.rawValue) })
        add("since", validators.modifiedText?.replacing(" ", with: "_"))
        add("etag", validators.entityTag)
        RecordChecksum.seal(&text)
        return text
    }

    /// Parses the value of the attribute. `nil` if it is damaged or of another version. Unknown fields are skipped.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        var fields = bytes.split(separator: UInt8(ascii: " ")).makeIterator()
        guard RecordChecksum.seals(bytes), let version = fields.next(),
            version.spells(Self.version)
        else { return nil }
        self.init(digest: nil, validators: Validators())
        while let field = fields.next() {
            guard let separator = field.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            set(field[..<separator], field[field.index(after: separator)...])
        }
    }

    /// The same for a value that was read as text.
    package init?(text: String) {
        var text = text
        guard let record = text.withUTF8({ Self(UnsafeRawBufferPointer($0)) }) else { return nil }
        self = record
    }

    private mutating func set(
        _ name: Slice<UnsafeRawBufferPointer>, _ value: Slice<UnsafeRawBufferPointer>
    ) {
        let text = String(decoding: value, as: UTF8.self)
        if name.spells("sha256") {
            digest = text
        } else if name.spells("of") {
            validators.original = UInt32(text, radix: 16)
        } else if name.spells("at") {
            validators.source = ResponseSource(text)
        } else if name.spells("modified") {
            validators.lastModified = UInt32(text).map(UnixTime.init)
        } else if name.spells("since") {
            validators.modifiedText = text.replacing("_", with: " ")
        } else if name.spells("etag") {
            validators.entityTag = text
        }
    }
}

extension Collection<UInt8> {
    /// Whether the bytes are those of a text.
    func spells(_ text: StaticString) -> Bool { text.withUTF8Buffer { elementsEqual($0) } }
}
