/// A report about one image.
public struct Event: Sendable {
    public enum State: Int32, Sendable {
        case missing, inFlight, cached, failed
    }

    /// A change of a download; `Item` in the interface of the daemon describes them.
    public enum Phase: Int32, Sendable {
        case queued, connecting, receiving, retrying, deriving, publishing

        static let all: [Phase] = [
            .queued, .connecting, .receiving, .retrying, .deriving, .publishing,
        ]

        var word: StaticString {
            switch self {
            case .queued: "queued"
            case .connecting: "connecting"
            case .receiving: "receiving"
            case .retrying: "retrying"
            case .deriving: "deriving"
            case .publishing: "publishing"
            }
        }
    }

    public var state = State.missing
    public var phase: Phase?
    /// The length of a cached image's file in bytes; -1 if the daemon does not say.
    var size: Int64 = -1
    public var received: Int64 = 0
    /// The bytes of the whole image; -1 while unknown.
    public var total: Int64 = -1
    /// In pixels as a viewer shows them; 0 if unknown. The same holds for the height.
    public var width: Int32 = 0
    public var height: Int32 = 0
    /// For a failure: the HTTP status, 0 if there is none; and the Unix second of the next attempt, 0 if none is
    /// planned.
    public var httpStatus: Int32 = 0
    public var retryAt: Int64 = 0

    /// For a cached image, if the daemon says it: the Unix second until which it is fresh, else 0; and whether it is
    /// never evicted.
    public var freshUntil: Int64 = 0
    public var isPinned = false

    /// The start of each text among the texts of the message; `nil` if it is absent.
    public var url: Int?
    public var key: Int?
    public var path: Int?
    public var mediaType: Int?
    public var kind: Int?
    public var message: Int?

    public init() {}
}
