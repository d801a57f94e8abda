/// How long an answer of the store may take, head and body together.
package struct StorePatience: Hashable, Sendable {
    /// The time for an answer without bytes. It includes connecting.
    package let limit: Duration
    /// Bytes a second. Each byte that has arrived prolongs the time as much as it may take at this rate, so an answer that
    /// drips ends soon, however long it is.
    package let rate: Int64

    package init(limit: Duration, rate: Int64) { (self.limit, self.rate) = (limit, rate) }

    /// The time from the question on, if so many bytes of the body have arrived.
    package func time(for bytes: Int64) -> Duration { limit + .milliseconds(bytes * 1000 / rate) }
}
