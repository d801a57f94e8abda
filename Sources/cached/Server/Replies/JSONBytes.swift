import CacheKey
import NIOCore

/// Writes JSON text into a buffer whose size is known to be enough.
///
/// The most frequent replies are written with it: without strings, without growing a buffer, in one pass. The
/// creator computes an upper bound of the size first; exceeding it is a programming error and stops the program.
struct JSONBytes {
    private let buffer: UnsafeMutableRawBufferPointer
    /// The number of bytes written.
    private(set) var count = 0

    /// The most bytes that a number needs: 19 digits and a sign.
    static let numberRoom = 20

    init(_ buffer: UnsafeMutableRawBufferPointer) {
        self.buffer = buffer
    }

    mutating func put(_ text: StaticString) {
        put(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func put(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= buffer.count - count, "a reply is longer than its buffer")
        guard let source = bytes.baseAddress, let start = buffer.baseAddress else { return }
        (start + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    mutating func put(_ byte: UInt8) {
        buffer[count] = byte
        count += 1
    }

    mutating func put(_ key: CacheKey) {
        key.write(to: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
        count += CacheKey.nameLength
    }

    mutating func put(_ number: some FixedWidthInteger) {
        if number < 0 { put(UInt8(ascii: "-")) }
        var rest = number.magnitude
        var digits = 1
        var bound = rest / 10
        while bound > 0 {
            bound /= 10
            digits += 1
        }
        for position in stride(from: count + digits - 1, through: count, by: -1) {
            buffer[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += digits
    }

    /// Writes a text with the escapes that JSON requires (RFC 8259 §7), without quotes around it. It needs up to
    /// ``escapedRoom`` times its length.
    mutating func putEscaped(_ bytes: UnsafeRawBufferPointer) {
        guard Self.needsEscapes(bytes) else { return put(bytes) }
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                put(UInt8(ascii: "\\"))
                put(byte)
            case 0..<0x20:
                put("\\u00")
                put(Self.hexDigit(byte >> 4))
                put(Self.hexDigit(byte & 15))
            default:
                put(byte)
            }
        }
    }

    /// Looks at all bytes whatever it finds, because the compiler then compares many at once.
    private static func needsEscapes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var found: UInt8 = 0
        for byte in bytes {
            let isEscaped =
                byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
            found |= isEscaped ? 1 : 0
        }
        return found != 0
    }

    mutating func putEscaped(_ text: String) {
        var copy = text
        copy.withUTF8 { putEscaped(UnsafeRawBufferPointer($0)) }
    }

    static let escapedRoom = 6

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

extension ByteBuffer {
    /// Appends what `body` writes into a buffer of `room` bytes.
    mutating func writeJSON(room: Int, _ body: (inout JSONBytes) -> Void) {
        writeWithUnsafeMutableBytes(minimumWritableBytes: room) { bytes in
            var output = JSONBytes(UnsafeMutableRawBufferPointer(rebasing: bytes[..<room]))
            body(&output)
            return output.count
        }
    }
}
