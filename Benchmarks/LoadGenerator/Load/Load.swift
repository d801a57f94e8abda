import Glibc

/// A closed loop of requests over several connections, on the calling thread.
///
/// The next request is sent when the previous reply is complete. One clock reading ends the one and starts
/// the other. Nothing waits for a timer, and nothing allocates memory during the measurement.
struct Load: ~Copyable {
    /// When the measurement starts and ends.
    struct Limits {
        /// Seconds before the measurement starts.
        let warmup: Double
        /// Seconds to measure.
        let duration: Double
        /// The maximum of requests to measure.
        let requests: Int
        /// Whether the end of standard input ends the measurement; then a line is printed when it starts.
        let endsWithInput: Bool
    }

    private let wire: WireProtocol
    private let requests: RequestSet
    private let queue: EventQueue
    private let connections: UnsafeMutableBufferPointer<Connection>
    private var latencies = Latencies(capacity: 1 << 22)
    /// Replies and their bytes, including those before the measurement.
    private var replies = 0
    private var replyBytes = 0

    /// The timeout in milliseconds after which an unresponsive server is given up.
    private static let patience: Int32 = 10_000

    /// Opens all connections; their first requests are spread over the whole set.
    init(
        endpoint: Endpoint, connections count: Int, requests: consuming RequestSet,
        wire: WireProtocol
    ) throws {
        let queue = try EventQueue()
        let connections = UnsafeMutableBufferPointer<Connection>.allocate(capacity: count)
        // A connection that fails ends the program, so nothing needs to be undone.
        for number in 0..<count {
            let first = number * requests.count / count
            let connection = try Connection(endpoint, firstRequest: first)
            try queue.add(connection.descriptor, number: number)
            connections.initializeElement(at: number, to: connection)
        }
        self.wire = wire
        self.requests = requests
        self.queue = queue
        self.connections = connections
    }

    deinit {
        connections.deinitialize()
        connections.deallocate()
    }

    /// Runs until a limit is reached; requests in flight are then abandoned.
    mutating func run(_ limits: Limits) throws -> LoadReport {
        let start = Monotonic.nanoseconds()
        let measured = start + UInt64(limits.warmup * 1e9)
        let deadline = measured + UInt64(limits.duration * 1e9)
        if limits.endsWithInput { try queue.add(STDIN_FILENO, number: connections.count) }
        for number in connections.indices { try ask(number, at: start) }
        var now = start
        var isAnnounced = !limits.endsWithInput
        while now < deadline, latencies.count < limits.requests {
            if !isAnnounced, now >= measured {
                print("measuring")
                fflush(nil)
                isAnnounced = true
            }
            let ready = try queue.wait(milliseconds: Self.patience)
            guard ready > 0 else {
                throw BenchFailure("no reply for \(Self.patience / 1000) seconds")
            }
            for index in 0..<ready {
                let number = queue.number(index)
                guard number < connections.count else { return report(since: measured, now) }
                guard try proceed(number) else { continue }
                now = Monotonic.nanoseconds()
                let asked = connections[number].askedAt
                if asked >= measured { latencies.record(now - asked) }
                try ask(number, at: now)
            }
        }
        return report(since: measured, now)
    }

    private func report(since measured: UInt64, _ now: UInt64) -> LoadReport {
        LoadReport(
            latencies: latencies.summary(), requests: latencies.count,
            seconds: Double(now - min(measured, now)) / 1e9,
            bytesPerReply: Double(replyBytes) / Double(max(replies, 1)))
    }

    /// Sends the next request on a connection.
    @inline(__always)
    private mutating func ask(_ number: Int, at now: UInt64) throws {
        connections[number].ask(at: now)
        let question = requests.bytes(connections[number].requestIndex)
        if try !connections[number].write(question) {
            try queue.setWriting(true, of: connections[number].descriptor, number: number)
        }
    }

    /// Continues with a ready connection: first the rest of a long request, then the reply.
    ///
    /// - Returns: whether the reply is complete.
    @inline(__always)
    private mutating func proceed(_ number: Int) throws -> Bool {
        let question = requests.bytes(connections[number].requestIndex)
        if !connections[number].isSent(question) {
            guard try connections[number].write(question) else { return false }
            try queue.setWriting(false, of: connections[number].descriptor, number: number)
        }
        guard try connections[number].read() else { return false }
        let reply = connections[number].reply
        guard try wire.isWhole(reply, requestLength: question.count) else { return false }
        replies += 1
        replyBytes += reply.count
        let next = connections[number].requestIndex + 1
        connections[number].requestIndex = next == requests.count ? 0 : next
        return true
    }
}
