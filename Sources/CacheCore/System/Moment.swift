/// One moment on both clocks: what people and files are told, and what pauses are measured by.
struct Moment: Sendable {
    var time: UnixTime
    /// Does not jump when somebody sets the clock.
    var instant: ContinuousClock.Instant

    static var now: Moment { Moment(time: .now, instant: .now) }

    /// The moment a pause later; the time in whole seconds, rounded up.
    static func + (moment: Moment, pause: Duration) -> Moment {
        let (seconds, attoseconds) = pause.components
        return Moment(
            time: moment.time + (seconds + (attoseconds > 0 ? 1 : 0)),
            instant: moment.instant + pause)
    }
}
