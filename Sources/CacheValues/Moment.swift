/// One moment on two clocks.
///
/// The wall clock's time is shown to people and written to files. Pauses are measured on the continuous
/// clock, which does not jump when the wall clock is set.
package struct Moment: Sendable {
    /// The moment on the wall clock.
    package var time: UnixTime
    /// The moment on the continuous clock.
    package var instant: ContinuousClock.Instant

    package init(time: UnixTime, instant: ContinuousClock.Instant) {
        self.time = time
        self.instant = instant
    }

    /// The moment `pause` later. The wall clock's time is rounded up to whole seconds.
    package static func + (moment: Moment, pause: Duration) -> Moment {
        let (seconds, attoseconds) = pause.components
        return Moment(
            time: moment.time + (seconds + (attoseconds > 0 ? 1 : 0)),
            instant: moment.instant + pause)
    }
}
