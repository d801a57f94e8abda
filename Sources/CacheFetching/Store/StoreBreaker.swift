/// Decides whether the store is used at all: after many bad answers it is left alone, for a second, then for twice as long
/// each time, up to a minute.
///
/// It counts the *share* of bad answers. One of three nodes that hangs makes every second answer late for as long as
/// half a minute, and the others arrive in milliseconds, so there are never several bad ones in a row.
package struct StoreBreaker: Sendable {
    /// Why the store is not used.
    package enum Reason: Hashable, Sendable {
        case late
        case refused
    }

    private enum State: Sendable {
        case closed
        case open(until: ContinuousClock.Instant, Reason)
        /// The pause is over. One request at a time tries the store.
        case trying(isUnderWay: Bool, Reason)
    }

    private var state = State.closed
    /// Two for each bad answer, less one for each good one.
    private var doubt = 0
    private var pause = Self.firstPause

    /// The doubt at which the store is left alone.
    private static let limit = 16
    private static let firstPause = Duration.seconds(1)
    package static let longestPause = Duration.seconds(60)

    package init() {}

    /// Whether a request may be made now.
    package var admits: Bool {
        switch state {
        case .closed: true
        case .open: false
        case .trying(let isUnderWay, _): !isUnderWay
        }
    }

    /// Why the store is not used. `nil` while it is.
    package var reason: Reason? {
        switch state {
        case .closed: nil
        case .open(_, let reason), .trying(_, let reason): reason
        }
    }

    /// When the store may be tried again. `nil` unless it is left alone.
    package var end: ContinuousClock.Instant? {
        if case .open(let end, _) = state { end } else { nil }
    }

    // MARK: Events

    /// A request begins.
    package mutating func began() {
        if case .trying(false, let reason) = state { state = .trying(isUnderWay: true, reason) }
    }

    /// A request was withdrawn, and says nothing.
    package mutating func wasWithdrawn() {
        if case .trying(true, let reason) = state { state = .trying(isUnderWay: false, reason) }
    }

    /// The store answered as it should. After a pause, the next bad answer means another one, until there were some good
    /// ones.
    package mutating func succeeded() {
        switch state {
        case .closed:
            doubt = max(0, doubt - 1)
            if doubt == 0 { pause = Self.firstPause }
        case .trying: (state, doubt) = (.closed, Self.limit - 2)
        // An answer to a request from before.
        case .open: return
        }
    }

    /// The answer was late, or the store failed. Returns whether the store is left alone from now on, and was not before.
    package mutating func failed(
        now: ContinuousClock.Instant, using random: inout some RandomNumberGenerator
    ) -> Bool {
        switch state {
        case .open: return false
        case .trying(_, let reason):
            leaveAlone(reason, now, using: &random)
            return false
        case .closed:
            doubt += 2
            guard doubt >= Self.limit else { return false }
            leaveAlone(.late, now, using: &random)
            return true
        }
    }

    /// The store lets this machine in only after somebody has changed something. Returns whether that is new.
    package mutating func refused(
        now: ContinuousClock.Instant, using random: inout some RandomNumberGenerator
    ) -> Bool {
        let isNew = reason != .refused
        if case .open(let end, _) = state {
            state = .open(until: end, .refused)
        } else {
            leaveAlone(.refused, now, using: &random)
        }
        return isNew
    }

    /// The store wants to be left alone for some seconds. Returns whether it was not before.
    package mutating func wantsPause(
        of seconds: Int64, now: ContinuousClock.Instant
    ) -> Bool {
        let isNew = reason == nil
        state = .open(until: now + min(.seconds(seconds), Self.longestPause), reason ?? .late)
        return isNew
    }

    /// Time has passed. Returns whether the store may be tried again from now on.
    package mutating func timePassed(now: ContinuousClock.Instant) -> Bool {
        guard case .open(let end, let reason) = state, end <= now else { return false }
        state = .trying(isUnderWay: false, reason)
        return true
    }

    /// Something changed that may have been the reason, such as the network or the credentials.
    package mutating func close() { self = StoreBreaker() }

    private mutating func leaveAlone(
        _ reason: Reason, _ now: ContinuousClock.Instant,
        using random: inout some RandomNumberGenerator
    ) {
        let jitter = Double.random(in: 0.75...1.25, using: &random)
        state = .open(until: now + pause * jitter, reason)
        pause = min(pause * 2, Self.longestPause)
        doubt = 0
    }
}
