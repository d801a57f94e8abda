/// Chooses the label beside a progress bar: the most recent one, but each label stays long enough
/// to be read.
///
/// If several labels arrive at once, only the newest waits, so that the display never lags behind.
/// The last label is always shown. Pure: events and the time are parameters.
struct LabelPacer {
    /// The shortest time for which a label is shown.
    static let dwell = Duration.milliseconds(250)

    /// The label to show now.
    private(set) var label: String?
    private var since = Duration.zero
    /// The label to show afterwards.
    private var next: String?
    /// Whether all work has ended, so that the last label is followed by none.
    private var isEnding = false

    /// Announces a new label.
    mutating func announced(_ text: String, now: Duration) {
        isEnding = false
        next = text
        advanced(to: now)
    }

    /// Announces that all work has ended.
    mutating func ended(now: Duration) {
        isEnding = true
        advanced(to: now)
    }

    /// Updates the label to the time `now`.
    mutating func advanced(to now: Duration) {
        guard label == nil || now >= since + Self.dwell else { return }
        if let text = next {
            label = text
            since = now
            next = nil
        } else if isEnding {
            label = nil
            isEnding = false
        }
    }

    /// When ``advanced(to:)`` will next change the label; `nil` if only an event can change it.
    var nextChange: Duration? {
        label != nil && (next != nil || isEnding) ? since + Self.dwell : nil
    }
}
