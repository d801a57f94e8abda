import CacheWire
import Glibc

/// A FIFO or a socket into which somebody writes when memory is short; what is written means nothing.
/// docs/PRESSURE.md of systemd.
final class ByteProbe: PressureProbe {
    private let descriptorOwner: ProbeDescriptor
    private var echo: OwnEcho

    /// Opens a FIFO for both directions, so that its last writer's leaving is no end.
    init(fifo path: String, greeting: [UInt8]) throws(PressureFailure) {
        descriptorOwner = try ProbeDescriptor(path, O_RDWR)
        echo = OwnEcho(of: greeting)
        try greet(greeting)
    }

    init(socket path: String, greeting: [UInt8]) throws(PressureFailure) {
        descriptorOwner = try ProbeDescriptor(connectingTo: path)
        // What is written here goes to the other end.
        echo = OwnEcho(of: [])
        try greet(greeting)
    }

    private func greet(_ greeting: [UInt8]) throws(PressureFailure) {
        if !greeting.isEmpty { try descriptorOwner.write(greeting) }
    }

    var descriptor: Int32 { descriptorOwner.number }
    let events = Int16(POLLIN)
    var nextLook: ContinuousClock.Instant? { nil }
    var standing: Duration? { nil }

    func look(_ events: Int16, now: ContinuousClock.Instant) throws(PressureFailure)
        -> PressureLevel?
    {
        var isPressure = false
        for _ in 0..<Self.maximumReads {
            guard let bytes = try descriptorOwner.read() else { break }
            // Pressure told with the last breath counts; the end is found again at the next look.
            if bytes.isEmpty {
                if isPressure { break }
                throw PressureFailure("the other end of the socket is closed")
            }
            if echo.received(bytes) { isPressure = true }
        }
        return isPressure ? .warning : nil
    }

    /// Reads at one look; a writer that never pauses can't hold the thread.
    private static let maximumReads = 64
}
