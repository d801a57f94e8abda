import Foundation
import Glibc
import Synchronization
import TestSupport

/// Reads server-sent events (HTML Standard §9.2) as a page does.
final class EventReader: Sendable {
    private let descriptor: Int32
    private let buffer = Mutex<String>("")
    private let isClosed = Mutex(false)
    /// The names of all events so far.
    private let names = Mutex<Set<String>>([])

    /// Connects and asks for the events.
    init(port: Int, path: String, in scope: TestScope) throws {
        descriptor = try WebConnection.connect(port)
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        let request = "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
        guard write(descriptor, request, request.utf8.count) == request.utf8.count else {
            throw TestFailure("write failed: errno \(errno)")
        }
        scope.atEnd { [self] in close() }
    }

    func close() {
        let wasClosed = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return isClosed
        }
        if !wasClosed { Glibc.close(descriptor) }
    }

    /// Waits for the next event with a name, and returns its data. Others are skipped.
    func next(_ name: String) async throws -> String {
        while true {
            let (event, data) = try await offPool { [self] in try nextEvent() }
            names.withLock { _ = $0.insert(event) }
            if event == name { return data }
        }
    }

    /// Waits for an event with a name, unless one has come already.
    func once(_ name: String) async throws {
        if names.withLock({ $0.contains(name) }) { return }
        _ = try await next(name)
    }

    private func nextEvent() throws -> (name: String, data: String) {
        while true {
            if let event = taken() { return event }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            guard count > 0 else { throw TestFailure("the stream of events has ended") }
            // Sizes of chunks stand on lines of their own between events.
            buffer.withLock { $0 += String(decoding: bytes[..<count], as: UTF8.self) }
        }
    }

    private func taken() -> (name: String, data: String)? {
        buffer.withLock { text in
            guard let start = text.firstRange(of: "event: "),
                let end = text[start.upperBound...].firstRange(of: "\n\n")
            else { return nil }
            let lines = text[start.upperBound..<end.lowerBound].split(separator: "\n")
            text = String(text[end.upperBound...])
            let data = lines.dropFirst().first { $0.hasPrefix("data: ") }?.dropFirst(6) ?? ""
            return (String(lines.first ?? ""), String(data))
        }
    }
}
