/// What went from the cache, as people read it.
enum EntryCountText {
    /// As in `1 entry, 22000 bytes`.
    static func describe(_ entries: Int, bytes: Int) -> String {
        "\(entries) \(entries == 1 ? "entry" : "entries"), \(bytes) bytes"
    }
}
