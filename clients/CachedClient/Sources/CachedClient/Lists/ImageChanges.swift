internal import Synchronization

/// The newest state of each image that has changed since the last element was taken.
public struct ImageChanges: AsyncSequence, Sendable {
    public typealias Element = ImageChange
    public typealias Failure = Never

    private let begin: @Sendable (ChangeBuffer) -> Void
    private let end: @Sendable (ChangeBuffer) -> Void

    init(
        begin: @escaping @Sendable (ChangeBuffer) -> Void,
        end: @escaping @Sendable (ChangeBuffer) -> Void
    ) {
        self.begin = begin
        self.end = end
    }

    public func makeAsyncIterator() -> Iterator {
        let buffer = ChangeBuffer()
        begin(buffer)
        return Iterator(registration: Registration(buffer, end))
    }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let registration: Registration

        fileprivate init(registration: Registration) {
            self.registration = registration
        }

        /// Waits for the next change; `nil` if the task is cancelled.
        public mutating func next() async -> ImageChange? {
            await next(isolation: nil)
        }

        /// Waits for the next change; `nil` if the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ImageChange? {
            await registration.buffer.next(isolation: actor)
        }
    }

    /// Ends the observation with the iterator.
    fileprivate final class Registration: Sendable {
        let buffer: ChangeBuffer
        private let end: @Sendable (ChangeBuffer) -> Void

        init(_ buffer: ChangeBuffer, _ end: @escaping @Sendable (ChangeBuffer) -> Void) {
            self.buffer = buffer
            self.end = end
        }

        deinit {
            end(buffer)
        }
    }
}
