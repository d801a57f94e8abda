package import CacheValues
internal import ImageFormats

/// The record of an entry as an object of a store carries it, and when it was written there by the clock of the machine
/// that wrote it.
///
///     v1 size=22031 type=image/png width=640 height=480 fetched=1790000000 fresh=1790003600 put=1790000002 sum=9df43d1b
package struct StoreRecord: Hashable, Sendable {
    package var record: EntryRecord
    package var put: UnixTime

    /// Bytes of the text. Some stores take no longer value.
    static let maximumLength = 256

    /// Seconds for which an object is fresh at most, whatever its writer says.
    static let longestFreshness: Int64 = 30 * 86_400

    package init(_ record: EntryRecord, put: UnixTime) {
        (self.record, self.put) = (record, put)
    }

    /// The text, without the validators if it would be too long with them. The origin sends them again.
    package var text: String {
        let whole = text(record.validators)
        return whole.utf8.count <= Self.maximumLength ? whole : text(Validators())
    }

    private func text(_ validators: Validators) -> String {
        var text = EntryRecord.textVersion
        func add(_ name: String, _ value: String?) {
            if let value { text += " \(name)=\(value)" }
        }
        add("size", "\(record.size)")
        add("type", record.mediaType.name)
        add("width", record.width.map { "\($0)" })
        add("height", record.height.map { "\($0)" })
        add("fetched", "\(record.fetchedAt.rawValue)")
        add("fresh", record.freshUntil.map { "\($0.rawValue)" })
        record.terms.forEachField(add)
        add("put", "\(put.rawValue)")
        add("at", validators.isEmpty ? nil : validators.source?.description)
        add("modified", validators.lastModified.map { "\($0.rawValue)" })
        // A header field of a store can have ASCII only.
        add("etag", validators.entityTag.flatMap { $0.utf8.allSatisfy { $0 < 0x80 } ? $0 : nil })
        RecordChecksum.seal(&text)
        return text
    }

    /// Parses the text. `nil` if it is damaged, or not such a record.
    package init?(text: String) {
        var text = text
        let record = text.withUTF8 { bytes -> EntryRecord? in
            let bytes = UnsafeRawBufferPointer(bytes)
            guard bytes.count <= EntryAttributes.maximumRecordLength, RecordChecksum.seals(bytes)
            else { return nil }
            return EntryRecord(text: bytes)
        }
        let put = text.split(separator: " ").first { $0.hasPrefix("put=") }
        guard let record, let put = put.flatMap({ UInt32($0.dropFirst(4)) }) else { return nil }
        self.init(record, put: UnixTime(rawValue: put))
    }

    /// The record for this machine: every time is moved by the difference of the clocks.
    ///
    /// Only the store's clock counts for how long the object has been there: `Date` and `Last-Modified` come from it.
    /// So the clocks of the machines may be wrong. Without these fields the age is unknown, and the entry is stale.
    package func entry(answeredBy head: ResponseHead, now: UnixTime) -> EntryRecord {
        var entry = record
        let dates = head.dates(now: now)
        if let date = dates.date, let modified = dates.lastModified {
            let putHere = now + -max(date - modified, 0)
            let shift = putHere - put
            entry.fetchedAt = min(record.fetchedAt + shift, now)
            // Nobody can make an image fresh on every machine for ever.
            entry.freshUntil = record.freshUntil.map {
                min(max($0 + shift, UnixTime(rawValue: 1)), now + Self.longestFreshness)
            }
        } else {
            entry.fetchedAt = min(record.fetchedAt, now)
            entry.freshUntil = now
        }
        entry.isShareable = true
        entry.isFromStore = true
        return entry
    }
}
