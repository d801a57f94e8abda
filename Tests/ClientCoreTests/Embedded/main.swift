// Reads messages, each after its length in four bytes, and writes the summary of each in eight, little endian.
import CClient

func readExactly(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var held = 0
    while held < count {
        let got = bytes.withUnsafeMutableBytes { read(0, $0.baseAddress! + held, count - held) }
        guard got > 0 else { return nil }
        held += got
    }
    return bytes
}

while let length = readExactly(4) {
    let count = length.reversed().reduce(0) { $0 << 8 | Int($1) }
    guard let message = readExactly(count) else { exit(1) }
    var number = message.withUnsafeBytes { summary(of: $0) }.littleEndian
    guard write(1, &number, 8) == 8 else { exit(1) }
}
