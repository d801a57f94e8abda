/// Determines when the screen is drawn.
struct FrameSchedule: Hashable {
    /// The interval between two frames.
    static let frame = Duration.milliseconds(100)

    /// Whether something on the screen has changed since the last frame.
    var isChanged = true
    /// Whether the change is a reaction to a key, which must be visible at once.
    var isUrgent = true
    private var drawnAt: Duration?

    /// When to draw the next frame; `nil` if there is nothing to draw.
    func next(isMoving: Bool) -> Duration? {
        guard let drawnAt, !isUrgent else { return .zero }
        return isChanged || isMoving ? drawnAt + Self.frame : nil
    }

    mutating func drawn(at now: Duration) {
        isChanged = false
        isUrgent = false
        drawnAt = now
    }
}
