/// Decides which label stands beside a progress bar: the newest, but each long enough to be read.
///
/// Of a burst only the newest waits for its turn, so that the label never lags behind; the last one
/// always shows. Pure: events and the time come in.
struct LabelPacer {
    /// How long a label stays at least.
    static let dwell = Duration.milliseconds(250)

    /// What is to be read now.
    private(set) var label: String?
    private var since = Duration.zero
    /// What comes after it.
    private var next: String?
    /// Nothing is to do any more: behind the last label there is nothing.
    private var isEnding = false

    /// Something new is what the bar is about.
    mutating func announced(_ text: String, now: Duration) {
        isEnding = false
        next = text
        advanced(to: now)
    }

    /// There is nothing to do any more.
    mutating func ended(now: Duration) {
        isEnding = true
        advanced(to: now)
    }

    /// The time has come to here.
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

    /// When ``advanced(to:)`` will change something; `nil` when only an event will.
    var nextChange: Duration? {
        label != nil && (next != nil || isEnding) ? since + Self.dwell : nil
    }
}
