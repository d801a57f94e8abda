import Glibc
import HTTPCaching

/// The bytes of a connection that are neither head nor body of a response: the framing of transfer codings, of HTTP/2
/// and of TLS. libcurl reads them without a limit and reports none.
extension Request {
    /// Framing may take as much as head and body, and this many bytes more. The kernel has received bytes before libcurl
    /// reads them, so an honest server needs some of it.
    private static let freeFraming: Int64 = 16 << 20

    /// Whether the connection has brought much more than the response has, since this was asked first. Streams of HTTP/2
    /// share a connection, so all that it ever brought is compared with all its responses.
    func hasTooMuchFraming() -> Bool {
        let connections = environment.connections
        guard hasAsked, failure == nil, !easy.isPaused,
            let received = connections.received(onLocalPort: easy.localPort)
        else { return false }
        if let content = connections.contentOfStreams(onLocalPort: easy.localPort) {
            return received > 2 * content + Self.freeFraming
        }
        let content = Int64(head.length) + easy.bodyBytes
        guard let before = receivedBefore else {
            receivedBefore = received - content
            return false
        }
        return received - before > 2 * content + Self.freeFraming
    }

    /// Part of a response arrived, so its connection works.
    func noteHeard(_ bytes: Int) {
        guard head.isMultiplexed else { return }
        environment.connections.heard(onLocalPort: easy.localPort, Int64(bytes))
    }

    /// If the request leaves a response before its end, the server may send as much of it as the window permits. That is
    /// no fault of its own, so the connection may bring as many bytes.
    func noteLeft() {
        guard head.isMultiplexed, !isComplete else { return }
        environment.connections.heard(onLocalPort: easy.localPort, Self.window / 2)
    }

    /// The connection is of no use any more, not even for others.
    func endConnection() {
        environment.connections.shutDown(localPort: easy.localPort)
    }

    /// libcurl's window of a stream: 10 MB, and 32 MiB in older versions (RFC 9113 §5.2).
    private static let window: Int64 = 32 << 20
}
