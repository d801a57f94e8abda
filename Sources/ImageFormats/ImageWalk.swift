/// Executes the steps of one ``ImageWalker`` on a file that arrives in chunks.
struct ImageWalk: Sendable {
    private(set) var walker: any ImageWalker
    private var step: WalkStep
    /// The bytes of the current read so far.
    private var field: [UInt8] = []
    /// Offset of the next byte.
    private var position: UInt64 = 0

    init(_ walker: any ImageWalker) {
        self.walker = walker
        step = walker.firstStep
    }

    var verdict: WalkVerdict { walker.verdict(at: position) }

    mutating func consume(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while index < bytes.count {
            let taken = advance(over: UnsafeRawBufferPointer(rebasing: bytes[index...]))
            position += UInt64(taken)
            index += taken
        }
    }

    /// Executes the current step as far as `bytes` allow, and returns the number of bytes used.
    private mutating func advance(over bytes: UnsafeRawBufferPointer) -> Int {
        if step.skip > 0 {
            let taken = Swift.min(step.skip, UInt64(bytes.count))
            step.skip -= taken
            return Int(taken)
        }
        switch step.action {
        case .read(let count):
            return gather(count, from: bytes)
        case .scan:
            let result = walker.scan(bytes, at: position)
            step = result.step
            return result.taken
        case .rest:
            return bytes.count
        }
    }

    private mutating func gather(_ count: Int, from bytes: UnsafeRawBufferPointer) -> Int {
        let offset = position - UInt64(field.count)
        let taken = Swift.min(bytes.count, count - field.count)
        field.append(contentsOf: bytes.prefix(taken))
        if field.count == count {
            step = walker.receive(ByteField(bytes: field, offset: offset))
            field.removeAll(keepingCapacity: true)
        }
        return taken
    }
}
