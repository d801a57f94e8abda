@testable import HTTPCaching

extension EntryRecord {
    /// Parses the value of the attribute.
    init?(_ bytes: [UInt8]) {
        guard let record = bytes.withUnsafeBytes({ EntryRecord($0) }) else { return nil }
        self = record
    }

    /// The same record as the attribute holds it.
    var withoutValidators: EntryRecord {
        var record = self
        record.validators = Validators()
        return record
    }
}

extension [UInt8] {
    /// Appends the checksum of a record.
    mutating func seal() {
        let sum = RecordChecksum.crc32(self)
        self += (0..<4).map { UInt8(truncatingIfNeeded: sum >> ($0 * 8)) }
    }
}
