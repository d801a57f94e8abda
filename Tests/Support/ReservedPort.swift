/// A loopback port that refuses every connection until the scope ends: it is bound but not listening.
public struct ReservedPort: Sendable {
    public let number: Int

    public init(in scope: TestScope) throws {
        let (socket, number) = try Socket.reserveLoopbackPort()
        self.number = number
        scope.atEnd { socket.close() }
    }
}
