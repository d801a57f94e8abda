import CTestSupport
import Glibc
import Synchronization

/// A door in a script: the origin stops at it until the test opens it.
///
///     let gate = try Gate()
///     origin.route("/a.png", .gated(image, after: 100, gate))
///     …
///     try await gate.reached()      // 100 bytes are out, the origin waits
///     gate.open()                   // it sends the rest
///
/// Once open it stays open. It may stand in many scripts: all of them wait for the one opening.
public final class Gate: Sendable {
    /// Readable (at its end) as soon as the gate is open.
    private let readEnd: Int32
    /// Closing it is the opening; `nil` afterwards.
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

    /// Lets everybody through who waits and who will come.
    public func open() {
        writeEnd.withLock { end in
            if let descriptor = end { close(descriptor) }
            end = nil
        }
    }

    /// Waits until `count` answers have come to the gate, counting those it has let through.
    public func reached(count: Int = 1, within limit: Duration = .patience) async throws {
        try await arrivals.wait(for: "\(count) answers at the gate", within: limit) { arrived in
            arrived >= count ? () : nil
        }
    }

    /// Waits on the origin's side; false when the client has left before the gate opened.
    func pass(_ socket: Socket) -> Bool {
        arrivals.change { $0 += 1 }
        return socket.wait(other: readEnd) == .otherReadable
    }
}
