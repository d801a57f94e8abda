/// Formats a number of entries for people.
enum EntryCountText {
    /// For example `1 entry, 22000 bytes`.
    static func describe(_ entries: Int, bytes: Int) -> String {
        "\(entries) \(entries == 1 ? "entry" : "entries"), \(bytes) bytes"
    }
}
