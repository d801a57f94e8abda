#if canImport(MediaTypes)
    public import MediaTypes
#endif

/// The state of one image in a directory.
public struct FolderImage: Sendable, Equatable {
    public enum State: Sendable {
        case missing
        /// A download was interrupted; a later one can continue it or starts over.
        case interrupted
        case inFlight
        case cached
    }

    public var state = State.missing
    /// Bytes of the image, or of its download so far.
    public var received: Int64 = 0
    /// Bytes of the whole image; -1 while unknown.
    public var total: Int64 = -1
    /// `other` if the record does not say.
    public var type = MediaType.other
    /// In pixels as a viewer shows them; 0 if unknown.
    public var width: Int32 = 0
    /// In pixels; 0 if unknown.
    public var height: Int32 = 0
    /// The Unix second until which the image may be used without asking its origin; 0 if the record does not say.
    public var freshUntil: UInt32 = 0
    /// Whether the image is never evicted.
    public var isPinned = false
    /// Another number for another file; 0 if the image is not cached.
    public var identity: UInt64 = 0

    public init(
        state: State = .missing, received: Int64 = 0, total: Int64 = -1, type: MediaType = .other,
        width: Int32 = 0, height: Int32 = 0, freshUntil: UInt32 = 0, isPinned: Bool = false,
        identity: UInt64 = 0
    ) {
        (self.state, self.received, self.total) = (state, received, total)
        (self.type, self.width, self.height) = (type, width, height)
        (self.freshUntil, self.isPinned, self.identity) = (freshUntil, isPinned, identity)
    }
}
