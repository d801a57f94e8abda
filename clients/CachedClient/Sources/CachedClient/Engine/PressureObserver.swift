/// Someone who watches the memory pressure; the identity of the object tells them apart.
final class PressureObserver: Sendable {
    let continuation: AsyncStream<MemoryPressure>.Continuation

    init(_ continuation: AsyncStream<MemoryPressure>.Continuation) {
        self.continuation = continuation
    }
}
