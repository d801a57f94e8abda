/// A loopback port that refuses every connection as long as the scope lasts: taken, and nobody listens.
public struct ReservedPort: Sendable {
    public let number: Int

    public init(in scope: TestScope) throws {
        let (socket, number) = try Socket.reserveLoopbackPort()
        self.number = number
        scope.atEnd { socket.close() }
    }
}
