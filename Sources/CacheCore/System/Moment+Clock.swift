import CacheValues

extension Moment {
    /// The current moment on both clocks.
    static var now: Moment { Moment(time: .now, instant: .now) }
}
