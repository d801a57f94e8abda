/// When the screen is drawn.
struct FrameSchedule: Hashable {
    /// What moves, and what changes by itself, is drawn so often.
    static let frame = Duration.milliseconds(100)
    /// `Stats` is asked so often while somebody looks at it.
    static let sample = Duration.seconds(1)

    /// Something on the screen is not as it was drawn.
    var isChanged = true
    /// A person waits for it.
    var isUrgent = true
    private var drawnAt: Duration?
    /// When what is drawn is not true any more.
    private var changesAt: Duration?

    /// When to draw next; `nil` when there is nothing to draw.
    func next(isMoving: Bool) -> Duration? {
        guard let drawnAt, !isUrgent else { return .zero }
        return isChanged || isMoving ? drawnAt + Self.frame : changesAt
    }

    mutating func drawn(at now: Duration, outdatedAt: Duration? = nil) {
        changesAt = outdatedAt
        isChanged = false
        isUrgent = false
        drawnAt = now
    }
}
