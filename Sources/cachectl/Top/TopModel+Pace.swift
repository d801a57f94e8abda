/// When something happens by itself. Where nothing moves and nobody looks at numbers, never.
extension TopModel {
    /// Whether anything on the screen moves.
    var isMoving: Bool {
        view == .downloads && watched.values.contains { $0.isMoving }
    }

    /// When ``advanced(to:)`` or drawing is due; `nil` when only an event will change anything.
    var nextDeadline: Duration? {
        [nextFrame, pacer.nextChange, nextSample, noticeEnd].compactMap(\.self).min()
    }

    /// When to draw.
    var nextFrame: Duration? { schedule.next(isMoving: isMoving) }

    /// The time has come to here.
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
