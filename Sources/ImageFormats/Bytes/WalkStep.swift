/// The next step that an ``ImageWalker`` asks for.
struct WalkStep: Sendable {
    enum Action: Sendable {
        /// Collect this number of bytes, at least one, and pass them on together.
        case read(Int)
        /// Pass the bytes on as they arrive.
        case scan
        /// Only count the rest of the file, which does not matter to the walker.
        case rest
    }

    /// Bytes to skip before the action.
    var skip: UInt64
    var action: Action

    static func read(_ count: Int, after skip: UInt64 = 0) -> WalkStep {
        precondition(count > 0, "a read of no bytes would never end")
        return WalkStep(skip: skip, action: .read(count))
    }

    static func scan(after skip: UInt64 = 0) -> WalkStep {
        WalkStep(skip: skip, action: .scan)
    }

    static let rest = WalkStep(skip: 0, action: .rest)
}
