import Glibc

/// The bytes of a response that are neither its head nor its body: the framing of the transfer coding and of TLS. libcurl
/// reads them without a limit and tells nobody.
extension Request {
    /// Framing may take as much as head and body, and this many bytes more. The kernel has received bytes before libcurl
    /// reads them, so an honest server needs some of it.
    private static let freeFraming: Int64 = 16 << 20

    /// Whether the connection has brought much more than the response has. Streams of HTTP/2 share a connection, so its
    /// bytes say nothing about one of them.
    var hasTooMuchFraming: Bool {
        guard let before = receivedBefore, failure == nil, !head.isMultiplexed, !easy.isPaused,
            let received = environment.connections.received(onLocalPort: easy.localPort)
        else { return false }
        let content = Int64(head.length) + easy.bodyBytes
        return received - before > 2 * content + Self.freeFraming
    }
}
