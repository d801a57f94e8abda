/// A partial of an interrupted download, which the next download of the image can continue.
public struct RestingPartial: Hashable, Sendable {
    /// Bytes that are there.
    public let received: Int64
    /// Bytes of the whole image.
    public let total: Int64

    package init(received: Int64, total: Int64) {
        (self.received, self.total) = (received, total)
    }
}
