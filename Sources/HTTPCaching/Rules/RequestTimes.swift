package import CacheValues

/// When a request was sent and when its response arrived.
package struct RequestTimes: Sendable {
    package var sent: UnixTime
    package var received: UnixTime

    package init(sent: UnixTime, received: UnixTime) {
        self.sent = sent
        self.received = received
    }
}
