import CacheWire
import Glibc

/// A FIFO or a socket into which another program writes when memory is short. The bytes have no meaning.
/// docs/PRESSURE.md of systemd.
final class ByteProbe: PressureProbe {
    private let descriptorOwner: ProbeDescriptor
    private var echo: OwnEcho

    /// Opens a FIFO for reading and writing, so that it does not end when its last writer closes it.
    init(fifo path: String, greeting: [UInt8]) throws(PressureFailure) {
        descriptorOwner = try ProbeDescriptor(path, O_RDWR)
        echo = OwnEcho(of: greeting)
        try greet(greeting)
    }

    init(socket path: String, greeting: [UInt8]) throws(PressureFailure) {
        descriptorOwner = try ProbeDescriptor(connectingTo: path)
        // Bytes written to a socket do not come back.
        echo = OwnEcho(of: [])
        try greet(greeting)
    }

    private func greet(_ greeting: [UInt8]) throws(PressureFailure) {
        if !greeting.isEmpty { try descriptorOwner.write(greeting) }
    }

    var descriptor: Int32 { descriptorOwner.number }
    let events = Int16(POLLIN)
    var nextRead: ContinuousClock.Instant? { nil }
    var validity: Duration? { nil }

    func read(_ events: Int16, now: ContinuousClock.Instant) throws(PressureFailure)
        -> PressureLevel?
    {
        var isPressure = false
        for _ in 0..<Self.maximumReads {
            guard let bytes = try descriptorOwner.read() else { break }
            // Pressure that was reported before the end counts. The next read finds the end again.
            if bytes.isEmpty {
                if isPressure { break }
                throw PressureFailure("the other end of the socket is closed")
            }
            if echo.received(bytes) { isPressure = true }
        }
        return isPressure ? .warning : nil
    }

    /// The most system calls in one read, so that a writer that never pauses does not keep the thread busy.
    private static let maximumReads = 64
}
