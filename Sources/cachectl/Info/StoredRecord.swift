import CacheKey
import CacheValues
import CacheWire
import Glibc
import HTTPCaching
import ImageFormats

/// Everything that the attributes of a file in a cache directory say.
struct StoredRecord {
    private(set) var fields: [RecordedField] = []
    /// Why the daemon does not believe the record, although it is intact.
    private(set) var problem: String?

    init(of file: StoredFile) throws(CommandFailure) {
        switch file.name {
        case .entry(let key): try addEntry(key, file)
        case .partial(let key): try addPartial(key, file)
        }
    }

    private mutating func add(_ more: RecordedField?...) {
        fields += more.compactMap { $0 }
    }

    // MARK: Entries

    private mutating func addEntry(_ key: CacheKey, _ file: StoredFile) throws(CommandFailure) {
        var (bytes, record) = try record(of: key, file)
        // The daemon writes the other attributes within two seconds.
        while record.awaitsAttributes, try file.changedRecently() {
            usleep(50_000)
            (bytes, record) = try self.record(of: key, file)
        }
        add(
            RecordedField("path", file.path), RecordedField("key", "\(key)"),
            RecordedField("kind", "entry"),
            RecordedField("record", String(decoding: bytes.prefix(2), as: UTF8.self)))
        add(record)
        try addValidators(key, file)
        add(
            RecordedField("mimeType", try file.text(EntryAttributes.mediaType)),
            RecordedField("url", try url(of: key, file)),
            RecordedField("downloadedFrom", try file.text(EntryAttributes.source(of: key))),
            RecordedField("links", file.links > 1 ? file.links : nil),
            RecordedField("lastUsedAt", file.lastUsedAt),
            RecordedField("confirmedAt", file.confirmedAt))
        if record.size != file.size {
            problem = "it has \(file.size) bytes, but its record says \(record.size)"
        }
    }

    private func record(
        of key: CacheKey, _ file: StoredFile
    ) throws(CommandFailure) -> ([UInt8], EntryRecord) {
        let attribute = EntryRecord.attributeName(of: key)
        guard let bytes = try file.attribute(attribute) else {
            throw .unreadable(
                file.path,
                "it has no record: it was copied without attributes, or never was a cached image")
        }
        guard let record = bytes.withUnsafeBytes({ EntryRecord($0) }) else {
            throw .unreadable(file.path, "its record is damaged: the attribute \(attribute)")
        }
        return (bytes, record)
    }

    /// The URL of this name, or that of the first name of the file.
    private func url(of key: CacheKey, _ file: StoredFile) throws(CommandFailure) -> String? {
        if let own = try file.text(EntryAttributes.url(of: key)) { return own }
        return try file.text(EntryAttributes.url)
    }

    private mutating func add(_ record: EntryRecord) {
        add(
            RecordedField("size", record.size), RecordedField("mediaType", record.mediaType.name),
            RecordedField("width", record.width), RecordedField("height", record.height),
            RecordedField(
                "orientation",
                record.orientation == .upright ? nil : Int(record.orientation.rawValue)),
            RecordedField("fetchedAt", record.fetchedAt),
            RecordedField("freshUntil", record.freshUntil))
        add(record.terms)
        add(
            RecordedField("removeAt", record.removeAt), RecordedField("pinned", record.isPinned))
    }

    private mutating func add(_ terms: ReuseTerms) {
        add(
            RecordedField("lifetime", terms.lifetime),
            RecordedField("guessed", terms.isGuessed),
            RecordedField("freshBy", terms.isRuled ? "CACHED_MIN_FRESHNESS" : nil),
            RecordedField("mustRevalidate", terms.mustRevalidate),
            RecordedField("staleWhileRevalidate", terms.staleWhileRevalidate),
            RecordedField("staleIfError", terms.staleIfError))
    }

    private mutating func addValidators(
        _ key: CacheKey, _ file: StoredFile
    ) throws(CommandFailure) {
        let attribute = ValidatorRecord.attributeName(of: key)
        let text = try file.text(attribute)
        let record = text.flatMap { ValidatorRecord(text: $0) }
        if text != nil, record == nil {
            problem = "its validators are damaged: the attribute \(attribute)"
        }
        let ofAllNames = try file.text(EntryAttributes.fileDigest)
        add(RecordedField("sha256", record?.digest ?? ofAllNames))
        guard let validators = record?.validators else { return }
        add(
            RecordedField("etag", validators.entityTag),
            RecordedField("lastModified", validators.lastModified),
            RecordedField("source", validators.source?.description))
    }

    // MARK: Partials

    private mutating func addPartial(_ key: CacheKey, _ file: StoredFile) throws(CommandFailure) {
        let text = try file.text(PartialRecord.attributeName)
        let total = try file.text(EntryAttributes.total)
        let record = text.flatMap { PartialRecord(text: $0) }
        if text != nil, record == nil {
            throw .unreadable(
                file.path, "its record is damaged: the attribute \(PartialRecord.attributeName)")
        }
        guard record != nil || total != nil else {
            throw .unreadable(
                file.path, "it has no record, so the download starts from the beginning")
        }
        add(
            RecordedField("path", file.path), RecordedField("key", "\(key)"),
            RecordedField("kind", "partial"),
            RecordedField("received", file.size),
            RecordedField("total", record?.total ?? total.flatMap { Int64($0) }))
        if let record { add(record) }
    }

    private mutating func add(_ record: PartialRecord) {
        switch record.validator {
        case .entityTag(let tag): add(RecordedField("etag", tag))
        case .lastModified(let time): add(RecordedField("lastModified", time))
        }
        add(
            RecordedField("source", record.source?.description),
            RecordedField("boot", record.boot))
        guard record.freshness != .unknown else { return }
        add(RecordedField("freshUntil", record.freshness.until))
        add(record.freshness.terms)
    }
}

extension StoredRecord {
    /// The fields as lines of an aligned table, one field a line.
    var lines: [String] {
        var table = Table([.left, .left])
        return table.lines(fields.map { [$0.name, $0.text] })
    }

    /// The fields as an object of JSON.
    var json: [String: JSONValue] {
        Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) })
    }
}
