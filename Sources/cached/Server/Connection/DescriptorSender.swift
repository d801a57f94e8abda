import CLinux
import CacheCore
import CacheFetching
import CacheValues
import Glibc
import NIOCore

/// Sends descriptors to clients, and counts those that they have not received. Used on the event loop only.
///
/// Each holds a file, and perhaps an image that has been evicted. The kernel counts all of them for the user of the
/// daemon, and sends no more once they are as many as the limit of open files. So a user has a quarter of that; the
/// owner of the cache and root too.
///
/// A client can end its connection and receive later. So the socket of a connection stays open, under a second
/// descriptor, as long as something that was sent over it is not received. unix(7)
final class DescriptorSender: Sendable {
    /// Why a descriptor cannot be sent now.
    enum Obstacle: Error {
        case unreceivedByClient
        case unreceivedByUser(Int, connections: Int)
        case unreceived
    }

    private struct State {
        /// The connections over which descriptors were sent that may not be received.
        var holders: [ClientID: Holder] = [:]
        /// Those of each user. The first has not been looked at for the longest time.
        var order: [UserID: LinkedSet<ClientID>] = [:]
        var quota: UserQuota
        var isScheduled = false
    }

    private struct Holder {
        /// A second descriptor of the connection.
        let socket: Int32
        /// The most descriptors that the client has not received.
        var count = 0
    }

    /// The most that one connection can have.
    static let limit = 64
    /// The least memory that the kernel counts for one message on a Unix socket.
    private static let leastMemory = 512
    /// How many connections of a user are looked at before that user is refused one more descriptor. Most clients
    /// receive at once.
    private static let looks = 8
    /// How often all connections are looked at, if there are any.
    private static let pause = TimeAmount.seconds(1)

    private let loop: any EventLoop
    private let state: NIOLoopBoundBox<State>
    /// The most connections of a user over which something is not received: each takes one descriptor more.
    private let holderLimit: Int

    init(loop: any EventLoop, openFiles: Int) {
        self.loop = loop
        holderLimit = max(Self.looks, openFiles / 64)
        state = .makeBoxSendingValue(
            State(quota: UserQuota(limit: openFiles / 4)), eventLoop: loop)
    }

    /// Sends a reply with a descriptor over the socket of a client. Returns the rest of the reply.
    func send(
        _ reply: ByteBuffer, with image: OpenImage, to client: ClientID,
        over socket: NIOBSDSocket.Handle
    ) throws(Obstacle) -> ByteBuffer {
        look(at: client)
        try makeRoom(for: client)
        if state.value.holders[client] == nil {
            let second = fcntl(socket, F_DUPFD_CLOEXEC, 0)
            guard second >= 0 else { throw .unreceived }
            state.value.holders[client] = Holder(socket: second)
            state.value.order[client.user, default: LinkedSet()].append(client)
        }
        defer { look(at: client) }
        var rest = reply
        let count = reply.withUnsafeReadableBytes {
            clinux_send_descriptor(socket, $0.baseAddress, $0.count, image.descriptor)
        }
        guard count >= 0 else {
            switch errno {
            case EAGAIN: throw .unreceivedByClient
            case ETOOMANYREFS: throw .unreceived
            // The end of the connection shows with the next write.
            default: return reply
            }
        }
        state.value.holders[client]?.count += 1
        state.value.quota.add(1, of: client.user)
        schedule()
        rest.moveReaderIndex(forwardBy: count)
        return rest
    }

    private func makeRoom(for client: ClientID) throws(Obstacle) {
        let user = client.user
        guard state.value.holders[client].map({ $0.count < Self.limit }) ?? true else {
            throw .unreceivedByClient
        }
        for _ in 0..<Self.looks where !hasRoom(for: client) {
            if let first = state.value.order[user]?.first { look(at: first) }
        }
        guard hasRoom(for: client) else {
            throw .unreceivedByUser(
                state.value.quota.counts[user, default: 0],
                connections: state.value.order[user]?.count ?? 0)
        }
    }

    private func hasRoom(for client: ClientID) -> Bool {
        let isHolder = state.value.holders[client] != nil
        return state.value.quota.hasRoom(1, of: client.user)
            && (isHolder || state.value.order[client.user]?.count ?? 0 < holderLimit)
    }

    /// The connection of the client is closed here. The client sees its end, whatever is left to receive.
    func closed(_ client: ClientID) {
        guard let holder = state.value.holders[client] else { return }
        shutdown(holder.socket, Int32(SHUT_RDWR))
        look(at: client)
    }

    /// Counts what a client has not received. A message takes some memory at least, so there cannot be more.
    private func look(at client: ClientID) {
        guard var holder = state.value.holders[client] else { return }
        let unreceived = Int(clinux_unreceived(holder.socket)) / Self.leastMemory
        state.value.quota.remove(max(0, holder.count - unreceived), of: client.user)
        holder.count = min(holder.count, unreceived)
        state.value.holders[client] = holder
        guard holder.count == 0 else {
            state.value.order[client.user]?.moveToEnd(client)
            return
        }
        close(holder.socket)
        state.value.holders[client] = nil
        state.value.order[client.user]?.remove(client)
        if state.value.order[client.user]?.isEmpty == true { state.value.order[client.user] = nil }
    }

    private func schedule() {
        guard !state.value.isScheduled, !state.value.holders.isEmpty else { return }
        state.value.isScheduled = true
        loop.assumeIsolated().scheduleTask(in: Self.pause) {
            self.state.value.isScheduled = false
            for client in self.state.value.holders.keys { self.look(at: client) }
            self.schedule()
        }
    }
}

extension DescriptorSender.Obstacle: CustomStringConvertible {
    var description: String {
        switch self {
        case .unreceivedByClient:
            "this connection has too many descriptors that were not received; receive the replies "
                + "first"
        case .unreceivedByUser(let count, let connections):
            "programs of this user have not received \(count) descriptors, over \(connections) "
                + "connections, and a user can have no more; receive the replies, or end the "
                + "programs that do not"
        case .unreceived:
            "the daemon cannot hand over more files until clients receive the descriptors that "
                + "were sent to them; try again later"
        }
    }
}
