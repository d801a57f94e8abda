/// Timed events. If nothing on the screen moves or counts, there are none.
extension TopModel {
    /// Whether anything on the screen is animated.
    var isMoving: Bool {
        view == .downloads && watched.values.contains { $0.isMoving }
    }

    /// When to draw or to call ``advanced(to:)`` next; `nil` if only an event can change anything.
    var nextDeadline: Duration? {
        [nextFrame, pacer.nextChange, nextSample, noticeEnd].compactMap(\.self).min()
    }

    /// When to draw the next frame.
    var nextFrame: Duration? { schedule.next(isMoving: isMoving) }

    /// Updates the state that changes with time alone.
    mutating func advanced(to now: Duration) -> [Action] {
        let label = pacer.label
        pacer.advanced(to: now)
        if pacer.label != label { schedule.isChanged = true }
        if let noticeEnd, now >= noticeEnd { showNotice(nil, now: now) }
        if isMoving {
            for url in watched.keys { watched[url]?.advanced(to: now) }
        }
        guard let due = nextSample, now >= due else { return [] }
        nextSample = now + FrameSchedule.sample
        return [.stats]
    }
}
