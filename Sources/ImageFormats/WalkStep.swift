/// What an ``ImageWalker`` wants done next.
struct WalkStep: Sendable {
    enum Action: Sendable {
        /// Gather so many bytes, at least one, and hand them over together.
        case read(Int)
        /// Hand over whatever comes, as it comes.
        case scan
        /// Only count: nothing that follows matters to the walker.
        case rest
    }

    /// Bytes to pass over before the action.
    var skip: UInt64
    var action: Action

    static func read(_ count: Int, after skip: UInt64 = 0) -> WalkStep {
        precondition(count > 0, "a read of no bytes never comes about")
        return WalkStep(skip: skip, action: .read(count))
    }

    static func scan(after skip: UInt64 = 0) -> WalkStep {
        WalkStep(skip: skip, action: .scan)
    }

    static let rest = WalkStep(skip: 0, action: .rest)
}
