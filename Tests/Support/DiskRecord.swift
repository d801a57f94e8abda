/// The record of an entry as its attribute holds it: docs/lookup/disk-format.md.
public enum DiskRecord {
    /// A record of a PNG without a time at which it becomes stale.
    ///
    /// - Parameters:
    ///   - size: bytes of the file.
    ///   - fetched: when it was fetched, in Unix seconds.
    public static func bytes(size: Int, fetched: Int) -> [UInt8] {
        var bytes = Array("v3".utf8)
        let fields = [(2, 2), (0, 4), (size, 8), (0, 4), (0, 4), (fetched, 4)]
        for (number, count) in fields + Array(repeating: (0, 4), count: 6) {
            bytes += littleEndian(number, count)
        }
        return bytes + littleEndian(Int(SampleImage.crc32(bytes)), 4)
    }

    private static func littleEndian(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
