import CacheWire

extension RemovedEntries {
    /// For example `1 entry, 22000 bytes`.
    var text: String { "\(entries) \(entries == 1 ? "entry" : "entries"), \(bytes) bytes" }
}
