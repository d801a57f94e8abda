import CClient

/// A call with one reply, on a connection of its own. Its functions never wait.
package struct Exchange: ~Copyable {
    package enum Outcome: Sendable {
        /// The reply, and the descriptor that came with it; -1 if there was none.
        case reply(ScannedReply, file: Int32)
        /// A negative errno.
        case failed(Int32)
    }

    private let place: DaemonPlace
    private let message: [UInt8]
    /// `nil` while the daemon is busy, or is being started.
    private var connection: Connection?
    private var start = DaemonStart()
    /// Whether a daemon may still be started.
    private var mayStart: Bool
    /// Whether a daemon has ended without an answer.
    private var wasLost = false
    private var file: Int32 = -1
    private let end: Int64

    /// Milliseconds until the daemon counts as not answering.
    private static let patience: Int64 = 5000
    /// Milliseconds between two attempts to connect to a daemon that is busy.
    private static let pause: Int64 = 20

    /// Sends a call to the daemon; `nil` if there is none.
    ///
    /// - Parameter starts: whether a daemon is started if none is there, and if the place permits that.
    package init?(_ message: [UInt8], _ place: DaemonPlace, starts: Bool = false) {
        (self.message, self.place) = (message, place)
        mayStart = starts && place.starts
        end = cclient_now() + Self.patience
        guard connect() || startDaemon() else { return nil }
    }

    deinit {
        if file >= 0 { close(file) }
    }

    /// Connects unless the daemon is busy. Returns whether there is a daemon.
    private mutating func connect() -> Bool {
        do throws(Connection.Failure) {
            connection = try Connection(place.sockets)
        } catch {
            return error == .isBusy
        }
        _ = connection?.send(message)
        return true
    }

    private mutating func startDaemon() -> Bool {
        guard mayStart else { return false }
        mayStart = false
        start.begin(place)
        return start.isRunning
    }

    /// The daemon was stopped or killed before it answered. The call is made once more: every call here says how something
    /// is to be, so it does no harm if it was heard.
    private mutating func lost() -> Outcome? {
        connection = nil
        guard !wasLost else { return .failed(-ECONNRESET) }
        wasLost = true
        return nil
    }

    /// Becomes readable when ``step()`` has something to do; -1 if only time matters.
    package var descriptor: Int32 {
        switch connection {
        case .some(let connection): connection.descriptor
        case nil: start.descriptor
        }
    }
    /// Whether the descriptor has to be watched for output, too.
    package var hasOutput: Bool {
        switch connection {
        case .some(let connection): connection.hasOutput
        case nil: false
        }
    }
    private var isConnected: Bool {
        switch connection {
        case .some: true
        case nil: false
        }
    }
    /// Milliseconds until ``step()`` has something to do in any case.
    package var timeLeft: Int64 {
        let left = max(end - cclient_now(), 0)
        return isConnected ? left : min(left, Self.pause)
    }

    /// Sends and receives as far as possible without waiting. Returns the outcome, or `nil` if there is none yet.
    /// After the outcome, the exchange must not be used.
    package mutating func step() -> Outcome? {
        if !isConnected {
            guard start.step() || timeLeft == 0 else { return nil }
            guard connect() || startDaemon() else { return .failed(-ECONNREFUSED) }
        }
        guard connection?.flush() ?? true else { return lost() }
        switch connection?.receive(&file) ?? .nothing {
        case .end: return lost()
        case .nothing: return timeLeft > 0 ? nil : .failed(-ETIMEDOUT)
        case .message:
            guard let reply = connection?.take() else { return .failed(-EBADMSG) }
            let file = file
            self.file = -1
            return .reply(reply, file: file)
        }
    }
}
