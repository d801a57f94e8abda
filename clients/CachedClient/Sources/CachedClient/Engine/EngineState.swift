internal import CClient
internal import ClientCore

/// The state that the engine's lock guards.
struct EngineState: ~Copyable {
    /// Whether the thread runs.
    var isRunning = false
    private(set) var watcher: Watcher?
    private var channels: [StreamOptions: Channel] = [:]
    private var calls: [PendingCall] = []
    private let place: DaemonPlace
    private let patience: Int64
    /// In the tests of an application, in place of the daemon and the directory.
    let script: FakeScript?

    init(_ place: DaemonPlace, _ script: FakeScript?, patience: Int64) {
        (self.place, self.script) = (place, script)
        self.patience = patience
    }

    // MARK: Requests

    /// Whether the thread has anything to do.
    var isIdle: Bool { channels.isEmpty && calls.isEmpty && watcher == nil }

    /// The channel with these options, if there is one.
    func existingChannel(_ options: StreamOptions) -> Channel? { channels[options] }

    mutating func channel(_ options: StreamOptions) -> Channel {
        if let channel = channels[options] { return channel }
        let channel = Channel(place, options, script, patience: patience)
        channels[options] = channel
        return channel
    }

    mutating func add(
        _ call: [UInt8], starts: Bool,
        _ continuation: CheckedContinuation<Exchange.Outcome, Never>
    ) {
        guard let exchange = Exchange(call, place, starts: starts) else {
            return continuation.resume(returning: .failed(-ECONNREFUSED))
        }
        calls.append(PendingCall(exchange, continuation))
    }

    mutating func add(_ buffer: ChangeBuffer) {
        if watcher == nil { watcher = Watcher(place) }
        watcher?.add(buffer)
    }

    mutating func add(_ observer: PressureObserver) {
        if watcher == nil { watcher = Watcher(place) }
        watcher?.add(observer)
    }

    mutating func addState(_ event: Event, _ texts: [UInt8], of name: ImageName) {
        script?.add(name, event, texts)
        for channel in channels.values { channel.session.stateAdded(name) }
    }

    // MARK: Turns

    /// Handles all events that have arrived. Returns the reports to make without the lock.
    mutating func turn() -> [Channel.Delivery] {
        var deliveries: [Channel.Delivery] = []
        for (options, channel) in channels {
            channel.turn(&deliveries)
            if channel.isIdle { channels[options] = nil }
        }
        calls.removeAll { call in
            guard let outcome = call.exchange.step() else { return false }
            call.continuation.resume(returning: outcome)
            return true
        }
        watcher?.turn()
        if watcher?.isIdle ?? false { watcher = nil }
        return deliveries
    }

    /// The next event to wait for. `nil` ends the thread: nothing is wanted.
    mutating func prepareToWait() -> EngineWait? {
        guard !isIdle else {
            isRunning = false
            return nil
        }
        var wait = EngineWait()
        for channel in channels.values {
            wait.add(channel.session.descriptor)
            wait.limit(to: channel.timeToSend)
        }
        for call in calls {
            wait.add(call.exchange.descriptor, withOutput: call.exchange.hasOutput)
            wait.limit(to: call.exchange.timeLeft)
        }
        if let watcher { wait.add(watcher.session.descriptor) }
        return wait
    }
}
