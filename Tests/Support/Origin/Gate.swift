import CTestSupport
import Glibc
import Synchronization

/// A gate in a script: the origin stops there until the test opens it.
///
///     let gate = try Gate()
///     origin.route("/a.png", .gated(image, after: 100, gate))
///     …
///     try await gate.reached()      // 100 bytes are sent, the origin waits
///     gate.open()                   // it sends the rest
///
/// Once open, a gate stays open. It can be used in several scripts; all of them wait for one opening.
public final class Gate: Sendable {
    /// Readable (at its end) once the gate is open.
    private let readEnd: Int32
    /// Closing this end opens the gate; `nil` afterwards.
    private let writeEnd: Mutex<Int32?>
    private let arrivals = Monitor(0)

    public init() throws {
        let ends = try ChildStreams.pipe()
        readEnd = ends.read
        writeEnd = Mutex(ends.write)
    }

    deinit {
        open()
        close(readEnd)
    }

    /// Opens the gate for every response that waits there or arrives later.
    public func open() {
        writeEnd.withLock { end in
            if let descriptor = end { close(descriptor) }
            end = nil
        }
    }

    /// Waits until `count` responses have reached the gate, including those that have passed it.
    public func reached(count: Int = 1, within limit: Duration = .patience) async throws {
        try await arrivals.wait(for: "\(count) responses at the gate", within: limit) { arrived in
            arrived >= count ? () : nil
        }
    }

    /// Blocks the origin's thread; returns false if the client disconnects before the gate opens.
    func pass(_ socket: Socket) -> Bool {
        arrivals.change { $0 += 1 }
        return socket.wait(other: readEnd) == .otherReadable
    }
}
