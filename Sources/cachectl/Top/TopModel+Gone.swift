import CacheWire

/// Why the image of the details is gone.
extension TopModel {
    struct Explanation: Hashable {
        /// What happened; `nil` while it is not known.
        var event: HistoryEvent?
        var questions = 0

        static let mostQuestions = 3
    }

    /// Asks the daemon what happened to the image. It can remember that a moment after it has reported that
    /// the image is gone. So the question is repeated with those for the figures.
    mutating func explainDetails() -> [Action] {
        guard let details, ImageState(details, now: 0) == .gone, explanation.event == nil,
            explanation.questions < Explanation.mostQuestions
        else { return [] }
        explanation.questions += 1
        return [.explain(details.url)]
    }

    mutating func explained(_ url: String, _ events: [HistoryEvent]) {
        guard let details, details.url == url, details.state == .missing, let event = events.last
        else { return }
        let isLate = explanation.questions == Explanation.mostQuestions
        guard event.endsAnImage || isLate else { return }
        explanation.event = event
        schedule.isUrgent = true
    }
}
