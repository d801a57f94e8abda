import CTestSupport
import Glibc

/// Changes of the names in a directory, as the kernel reports them. inotify(7)
///
///     let events = try FileEvents(.removals, in: daemon.directory, scope)
///     …
///     let first = try await events.next()
public final class FileEvents: Sendable {
    /// The events to listen for.
    public struct Kinds: OptionSet, Sendable {
        public let rawValue: UInt32

        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// A name was deleted. `IN_DELETE`
        public static let removals = Kinds(rawValue: UInt32(IN_DELETE))
        /// A file got a new name that is not a partial's, so it was published. `IN_MOVED_TO`,
        /// `IN_CREATE`
        public static let publications = Kinds(
            rawValue: UInt32(IN_MOVED_TO) | UInt32(IN_CREATE))
        /// A file was read or its access time was set; the kernel reports both the same. `IN_ACCESS`
        public static let uses = Kinds(rawValue: UInt32(IN_ACCESS))
    }

    private let descriptor: Int32

    /// Listens until the scope ends. inotify_init1(2), inotify_add_watch(2).
    public init(_ kinds: Kinds, in directory: String, _ scope: TestScope) throws {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw TestFailure.syscall("inotify_init1") }
        scope.atEnd { close(descriptor) }
        guard inotify_add_watch(descriptor, directory, kinds.rawValue) >= 0 else {
            throw TestFailure.syscall("inotify_add_watch", directory)
        }
        self.descriptor = descriptor
    }

    /// Waits for an event since the last call, takes all pending events, and returns when the event
    /// was noticed.
    @discardableResult
    public func next(
        within limit: Duration = .patience
    ) async throws -> ContinuousClock.Instant {
        let deadline = ContinuousClock.now + limit
        return try await offPool { [self] in
            while true {
                var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                let left = deadline - ContinuousClock.now
                guard poll(&event, 1, max(left, .zero).milliseconds) == 1 else {
                    throw TestFailure.timedOut("an event in a directory", after: limit)
                }
                let now = ContinuousClock.now
                if takeEvents() { return now }
            }
        }
    }

    /// Takes all pending events. Returns whether there was any other than the creation of partials.
    private func takeEvents() -> Bool {
        var isNews = false
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            buffer.withUnsafeBytes { bytes in
                var position = 0
                while position < count {
                    let header = bytes.loadUnaligned(
                        fromByteOffset: position, as: inotify_event.self)
                    position += MemoryLayout<inotify_event>.size
                    let name = bytes[position..<(position + Int(header.len))].prefix { $0 != 0 }
                    position += Int(header.len)
                    let isPartial = name.suffix(5).elementsEqual(".part".utf8)
                    if header.mask & UInt32(IN_CREATE) == 0 || !isPartial { isNews = true }
                }
            }
        }
        return isNews
    }

    /// Waits until a condition holds, checking it again after every event.
    public func wait(
        for what: String, within limit: Duration = .patience, until holds: () throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + limit
        while try !holds() {
            let left = deadline - ContinuousClock.now
            guard left > .zero else { throw TestFailure.timedOut(what, after: limit) }
            try await next(within: left)
        }
    }
}
