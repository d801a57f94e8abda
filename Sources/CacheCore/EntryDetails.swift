/// Details of an entry that only the attributes of its file hold.
public struct EntryDetails: Sendable {
    public let url: String?
    public let sha256: ContentDigest?
}
