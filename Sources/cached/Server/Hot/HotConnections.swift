import CacheCore
import CacheFetching
import CacheKey
import CacheValues
import Glibc
import NIOCore

/// Accepts clients, and answers the calls that come most: a plain `Status`, and a plain `Fetch` of what is cached.
/// One thread uses it.
///
/// Every connection begins here, and is here only while it is at rest: no call is unanswered and no answer unsent. So
/// nothing is kept for it but its descriptor. A client that sends anything else than one short plain call at a time, or
/// does not take an answer at once, is handed over with its bytes to the event loop, which limits and delays clients
/// as they deserve. It stays there.
///
/// In a turn, the calls of ready connections are received first. Then the cache is asked about all their images at
/// once, with one look at the directory, and then all are answered. So no answer is older than its question.
///
/// A turn takes about a millisecond at most, and users take turns within it. So however many connections a user has,
/// another user's call waits for about one turn.
final class HotConnections {
    /// A call that waits for the end of the turn.
    private struct Question {
        let socket: Int32
        /// The message and the NUL at its end.
        let bytes: UnsafeRawBufferPointer
        let call: PlainCall
        /// Where its keys are.
        let places: Range<Int>

        var message: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes.dropLast()) }
    }

    /// The most calls in a turn.
    private static let callsInTurn = 64
    /// The longest call, with the NUL at its end.
    private static let longestCall = 4096
    /// The most images in a call. It takes less time than receiving it does.
    private static let mostImages = 32
    /// A turn receives no further call after so many images.
    private static let imagesInTurn = 512
    /// How long no client is accepted after that has failed.
    private static let pause = Duration.milliseconds(100)

    private let server: ServerContext
    private let sockets: SocketWatch
    private var acceptor: Acceptor
    /// When clients are accepted again after a failure.
    private var acceptsAgainAt: ContinuousClock.Instant?
    /// The users of the connections, by descriptor.
    private var users: [Int32: UserID] = [:]
    /// The connections that have sent something.
    private var ready = ReadyConnections()
    private(set) var isEnded = false

    /// Room for the calls of a turn. One byte more shows that a client has sent more than that.
    private let input = UnsafeMutableRawBufferPointer.allocate(
        byteCount: callsInTurn * (longestCall + 1), alignment: 16)
    private var questions: [Question] = []
    private var keys: [CacheKey] = []
    private var output = ByteBuffer()

    init(_ server: ServerContext, _ sockets: SocketWatch, listener: Int32) {
        (self.server, self.sockets) = (server, sockets)
        acceptor = Acceptor(listener, server.connections, server.logger)
        beginAccepting()
    }

    deinit {
        input.deallocate()
    }

    /// Waits until a client needs something, or the thread is woken, and answers calls of each user in turn.
    func turn() {
        acceptAgain()
        collect()
        while questions.count < Self.callsInTurn, keys.count < Self.imagesInTurn,
            let socket = ready.next()
        {
            ask(socket)
        }
        answer()
    }

    /// Finds all ready connections, because the user of the last one is in turn too. Each is found once; there may be
    /// more of them at the same time, and they have to wait.
    private func collect() {
        var time: Int32 = !ready.isEmpty ? 0 : acceptsAgainAt == nil ? -1 : 100
        for _ in 0...users.count / SocketWatch.batchSize {
            let found = sockets.wait(milliseconds: time)
            for socket in found { sort(socket) }
            guard found.count == SocketWatch.batchSize else { return }
            time = 0
        }
    }

    /// A client that sends nothing more takes no turn, because nothing reports it again. As a rule, it has its answers.
    private func sort(_ found: SocketWatch.Ready) {
        if found.socket == acceptor.descriptor {
            accept()
        } else if found.hasEnded {
            if let bytes = receive(from: found.socket) { handOver(found.socket, bytes) }
        } else if let user = users[found.socket] {
            ready.append(found.socket, of: user)
        }
    }

    // MARK: Clients

    private func accept() {
        let isDone = acceptor.accept { client, user in
            users[client] = user
            if !sockets.watchChanges(client) { disconnect(client) }
        }
        guard !isDone else { return }
        // Without this the loop would spin: the socket stays readable as long as a client waits.
        sockets.forget(acceptor.descriptor)
        acceptsAgainAt = .now + Self.pause
    }

    private func acceptAgain() {
        guard let time = acceptsAgainAt, time <= .now else { return }
        beginAccepting()
    }

    private func beginAccepting() {
        let isWatched = sockets.watch(acceptor.descriptor, read: true, write: false)
        acceptsAgainAt = isWatched ? nil : .now + Self.pause
    }

    /// Accepts no client any more. Those in the queue of the socket are refused, unless another process has it too.
    func stopListening() {
        guard acceptor.descriptor >= 0 else { return }
        sockets.forget(acceptor.descriptor)
        close(acceptor.descriptor)
        acceptor.descriptor = -1
        acceptsAgainAt = nil
    }

    /// Closes everything, because the daemon stops.
    func end() {
        stopListening()
        for socket in users.keys { disconnect(socket) }
        isEnded = true
    }

    private func disconnect(_ socket: Int32) {
        close(socket)
        if let user = users.removeValue(forKey: socket) { server.connections.leave(user) }
    }

    /// Passes a connection to the event loop, which answers what was received and sends what was not sent.
    private func handOver(
        _ socket: Int32, _ received: UnsafeRawBufferPointer? = nil, unsent: ByteBuffer = .init()
    ) {
        guard let user = users.removeValue(forKey: socket) else { return }
        sockets.forget(socket)
        server.adopt(
            ConnectionHandoff(
                socket: socket, user: user,
                received: received.map { ByteBuffer(bytes: $0) } ?? ByteBuffer(), unsent: unsent))
    }

    // MARK: Calls

    private func ask(_ socket: Int32) {
        guard let bytes = receive(from: socket) else { return }
        if let question = question(bytes, from: socket) {
            questions.append(question)
        } else {
            handOver(socket, bytes)
        }
    }

    /// Receives what a client has sent, which is one whole call in most cases. Returns `nil` if there is nothing, or no
    /// such client any more. recv(2).
    private func receive(from socket: Int32) -> UnsafeRawBufferPointer? {
        guard users[socket] != nil else { return nil }
        let room = UnsafeMutableRawBufferPointer(
            rebasing: input[(questions.count * (Self.longestCall + 1))...]
                .prefix(Self.longestCall + 1))
        let count = recv(socket, room.baseAddress, room.count, Int32(MSG_DONTWAIT))
        guard count > 0 else {
            if count == 0 || errno != EAGAIN && errno != EINTR { disconnect(socket) }
            return nil
        }
        return UnsafeRawBufferPointer(rebasing: room[..<count])
    }

    private func question(_ bytes: UnsafeRawBufferPointer, from socket: Int32) -> Question? {
        let message = UnsafeRawBufferPointer(rebasing: bytes.dropLast())
        // A call contains no NUL, so this is one message.
        guard bytes.last == 0, bytes.count <= Self.longestCall, let call = PlainCall(message),
            call.count <= Self.mostImages,
            let places = call.keys(in: message, to: &keys)
        else { return nil }
        return Question(socket: socket, bytes: bytes, call: call, places: places)
    }

    private func answer() {
        guard !questions.isEmpty else { return }
        defer {
            questions.removeAll(keepingCapacity: true)
            keys.removeAll(keepingCapacity: true)
        }
        // With rules about queries, the key is not that of the text.
        let lookups = server.cache.ignoredQueries.isEmpty ? server.cache.lookup(keys) : nil
        for question in questions {
            if let lookups, isAnswerable(question) {
                server.registry.tookCall()
                answer(question, lookups)
            } else {
                handOver(question.socket, question.bytes)
            }
        }
    }

    /// A `Fetch` is answered at once only if all its images are cached and fresh.
    private func isAnswerable(_ question: Question) -> Bool {
        question.call.method == .status || server.cache.takeHits(keys[question.places])
    }

    /// send(2).
    private func answer(_ question: Question, _ lookups: [Lookup]) {
        output.clear()
        question.call.writeReply(
            question.message, question.places, of: keys, lookups, from: server, to: &output)
        let count = output.withUnsafeReadableBytes {
            send(
                question.socket, $0.baseAddress, $0.count,
                Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        }
        guard count < output.readableBytes else { return }
        guard count >= 0 || errno == EAGAIN || errno == EINTR else {
            return disconnect(question.socket)
        }
        output.moveReaderIndex(forwardBy: max(count, 0))
        handOver(question.socket, unsent: output)
    }
}
