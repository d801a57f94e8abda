/// Timed events. If nothing on the screen moves, there is one a second: the question for the figures.
extension TopModel {
    /// Whether anything on the screen is animated.
    var isMoving: Bool {
        outage == nil && !isHelpShown && (view == .downloads || details != nil)
            && watched.values.contains { $0.isComing }
    }

    /// When to draw or to call ``advanced(to:)`` next; `nil` if only an event can change anything.
    var nextDeadline: Duration? {
        let question = goneBecause == nil ? heartbeat.deadline : nil
        return [nextFrame, pacer.nextChange, question, noticeEnd].compactMap(\.self).min()
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
        guard goneBecause == nil else { return [] }
        let wasSilent = heartbeat.isSilent
        let isDue = heartbeat.advanced(to: now)
        if heartbeat.isSilent != wasSilent { schedule.isUrgent = true }
        return isDue ? [.stats] : []
    }
}
