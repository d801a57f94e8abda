import Testing

@testable import CacheWire

@Suite struct InputBufferTests {
    /// As from a daemon that always has more to say than one read takes.
    @Test func messagesComeWholeThoughNoReadEndsAtTheirEnd() {
        var buffer = InputBuffer()
        let messages: [[UInt8]] = (0..<1000).map { Array("message \($0)".utf8) }
        var stream = ([UInt8](messages.joined(separator: [0])) + [0])[...]
        var taken: [[UInt8]] = []
        var held = 0
        while !stream.isEmpty {
            let count = buffer.append(room: 64) { room in
                room.copyBytes(from: stream.prefix(room.count))
                return min(room.count, stream.count)
            }
            stream = stream.dropFirst(count)
            while let message = buffer.takeMessage({ Array($0) }) { taken.append(message) }
            held = max(held, buffer.held)
        }
        #expect(taken == messages)
        #expect(buffer.count == 0)
        #expect(held < 256)
    }
}
