import Glibc

/// The bytes that a request sends: those of a file, which is closed with its last owner, or a few in memory.
final class UploadedFile {
    let size: Int64
    private let descriptor: Int32
    private let bytes: [UInt8]
    private var position: Int64 = 0

    /// - Parameter descriptor: the object closes it.
    init(descriptor: Int32, size: Int64) {
        (self.descriptor, self.size, bytes) = (descriptor, size, [])
    }

    init(_ bytes: [UInt8]) {
        (descriptor, size, self.bytes) = (-1, Int64(bytes.count), bytes)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The next bytes. `nil` if they cannot be read. pread(2).
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard descriptor >= 0 else {
            let piece = bytes.dropFirst(Int(position)).prefix(buffer.count)
            buffer.copyBytes(from: piece)
            position += Int64(piece.count)
            return piece.count
        }
        let count = pread(
            descriptor, buffer.baseAddress, min(buffer.count, Int(size - position)),
            off_t(position))
        guard count >= 0 else { return nil }
        position += Int64(count)
        return count
    }

    /// A request on a connection that turned out to be dead is sent again from its beginning.
    func rewind(to offset: Int64) { position = offset }
}
