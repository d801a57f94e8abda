internal import ClientCore

/// A call that waits for its reply. The engine's lock guards it.
final class PendingCall {
    var exchange: Exchange
    let continuation: CheckedContinuation<Exchange.Outcome, Never>

    init(
        _ exchange: consuming Exchange, _ continuation: CheckedContinuation<Exchange.Outcome, Never>
    ) {
        self.exchange = exchange
        self.continuation = continuation
    }
}
