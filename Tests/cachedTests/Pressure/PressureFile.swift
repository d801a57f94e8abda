import Foundation
import Glibc
import TestSupport
import Testing

@testable import cached

/// A file of pressure figures, looked at from outside the monitor.
struct PressureFile: Sendable {
    let path: String

    static let machine = PressureFile(path: PressureSource.machine)

    var isThere: Bool { access(path, R_OK) == 0 }

    func totals() throws -> StallTotals {
        let text = String(decoding: try contents(of: path), as: UTF8.self)
        return try #require(StallTotals(text))
    }

    /// Arms a warning without any guard, runs `body`, and waits for the first event, true or false.
    /// Returns false if there was none in time, or no trigger is granted. poll(2).
    @discardableResult
    func unguardedEvent(
        within limit: Duration, after body: @Sendable () async throws -> Void = {}
    ) async throws -> Bool {
        let descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        defer { close(descriptor) }
        let line = PressureTrigger.warning.line
        guard write(descriptor, line, line.count) == line.count else { return false }
        try await body()
        return await withCheckedContinuation { continuation in
            // On a thread of its own: those that run tasks are few.
            Thread.detachNewThread {
                var event = pollfd(fd: descriptor, events: Int16(POLLPRI), revents: 0)
                let count = poll(&event, 1, Int32(limit.microseconds / 1000))
                continuation.resume(returning: count == 1)
            }
        }
    }
}
