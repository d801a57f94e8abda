/// An observer of the memory pressure. The identity of the object distinguishes observers.
final class PressureObserver: Sendable {
    let continuation: AsyncStream<MemoryPressure>.Continuation

    init(_ continuation: AsyncStream<MemoryPressure>.Continuation) {
        self.continuation = continuation
    }
}
