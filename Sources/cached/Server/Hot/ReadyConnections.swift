import CacheCore
import CacheValues
import NIOCore

/// The descriptors of connections that have sent something. Their users take turns, a connection at a time.
struct ReadyConnections {
    /// The users who have any, in turn.
    private var users = CircularBuffer<UserID>()
    private var sockets: [UserID: CircularBuffer<Int32>] = [:]

    /// Users who are remembered once nothing is left. There are rarely so many.
    private static let remembered = 64

    var isEmpty: Bool { users.isEmpty }

    mutating func append(_ socket: Int32, of user: UserID) {
        let isFirst = Self.append(socket, to: &sockets[user, default: []])
        if isFirst { users.append(user) }
    }

    private static func append(_ socket: Int32, to sockets: inout CircularBuffer<Int32>) -> Bool {
        defer { sockets.append(socket) }
        return sockets.isEmpty
    }

    /// Removes the first connection of the user whose turn it is.
    mutating func next() -> Int32? {
        guard let user = users.popFirst() else {
            if sockets.count > Self.remembered { sockets = [:] }
            return nil
        }
        let (socket, isLast) = Self.removeFirst(of: &sockets[user, default: []])
        if !isLast { users.append(user) }
        return socket
    }

    private static func removeFirst(of sockets: inout CircularBuffer<Int32>) -> (Int32?, Bool) {
        let socket = sockets.popFirst()
        return (socket, sockets.isEmpty)
    }
}
