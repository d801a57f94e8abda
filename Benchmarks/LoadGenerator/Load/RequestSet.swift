/// The requests of a run, encoded before it starts and sent in turn.
struct RequestSet: ~Copyable {
    /// All requests one after another.
    private let bytes: UnsafeMutableRawBufferPointer
    private let ranges: [Range<Int>]

    /// Splits `lines` into requests of `perCall` lines; an incomplete last one is dropped.
    init(lines: [String], perCall: Int, wire: WireProtocol) throws {
        guard lines.count >= perCall else {
            throw BenchFailure("\(lines.count) URLs are too few for calls of \(perCall)")
        }
        var text: [UInt8] = []
        var ranges: [Range<Int>] = []
        for start in stride(from: 0, through: lines.count - perCall, by: perCall) {
            let begin = text.count
            text.append(contentsOf: wire.request(lines[start..<(start + perCall)]).utf8)
            ranges.append(begin..<text.count)
        }
        self.ranges = ranges
        bytes = .allocate(byteCount: text.count, alignment: 16)
        bytes.copyBytes(from: text)
    }

    deinit {
        bytes.deallocate()
    }

    /// The number of different requests.
    var count: Int { ranges.count }

    /// The bytes of one request.
    @inline(__always)
    func bytes(_ index: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[ranges[index]])
    }
}
