import CacheFetching
internal import CacheKey
internal import Logging
internal import Synchronization

/// Runs all downloads on one thread of its own, which owns libcurl. Other threads leave commands and wake it.
final class TransferLoop: Sendable {
    enum Command: Sendable {
        case start(FlightID, CacheKey, CacheURL, LocalHints)
        /// Asks the store. Only for a loop that has one.
        case ask(FlightID, CacheKey, CacheURL, LocalHints, StoreQuestion)
        /// Ends a download if it still runs.
        case cancel(FlightID, CacheKey, discardsPartial: Bool)
        /// Closes the connections to origins that no download uses.
        case closeIdleConnections
        /// Uses these settings for downloads that begin from now on.
        case configure(TransferSettings)
        /// Removes a partial download unless one writes to it.
        case discardPartial(CacheKey)
        /// The writer of a download has done something.
        case advanced(FlightID)
        /// Calls a function on the thread, in its turn.
        case call(@Sendable () -> Void)
        case stop
    }

    /// The commands for the thread.
    private struct Mailbox {
        var commands: [Command] = []
        /// Whether the thread sleeps, or is about to, and a new command has to wake it.
        var isAsleep = false
    }

    private let multi: CurlMulti
    private let mailbox = Mutex(Mailbox())
    private let thread = Mutex<NamedThread?>(nil)

    init() throws(CacheError) {
        multi = try CurlMulti()
    }

    /// Starts the thread. It calls and retains the delegate until ``finish()``.
    ///
    /// - Parameter store: the store that the loop asks, if it does not ask origins.
    func start(
        _ settings: TransferSettings, _ directory: CacheDirectory, _ logger: Logger,
        delegate: any TransferDelegate, store: StoreAccess? = nil
    ) {
        thread.withLock { handle in
            handle = NamedThread(store == nil ? "transfers" : "store") {
                let bytes = BodyThread { self.send(.advanced($0)) }
                let context = TransferContext(
                    settings, directory, logger, delegate, self.multi.connections, bytes,
                    store: store)
                TransferThread(context, self.multi).run(
                    takeCommands: { self.takeCommands() }, maySleep: { self.maySleep() })
            }
        }
    }

    /// Queues a command without waiting.
    func send(_ command: Command) {
        let wakes = mailbox.withLock { mailbox in
            mailbox.commands.append(command)
            defer { mailbox.isAsleep = false }
            return mailbox.isAsleep
        }
        if wakes { multi.wakeUp() }
    }

    /// Ends the thread and all downloads; their partials stay.
    func finish() {
        send(.stop)
        thread.withLock { $0.take() }?.join()
    }

    private func takeCommands() -> [Command] {
        mailbox.withLock { mailbox in
            mailbox.isAsleep = false
            guard !mailbox.commands.isEmpty else { return [] }
            defer { mailbox.commands = [] }
            return mailbox.commands
        }
    }

    /// Whether there is no command left. If so, the next command wakes the thread.
    private func maySleep() -> Bool {
        mailbox.withLock { mailbox in
            mailbox.isAsleep = mailbox.commands.isEmpty
            return mailbox.isAsleep
        }
    }
}
