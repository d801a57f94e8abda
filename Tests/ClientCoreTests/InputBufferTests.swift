import Testing

@testable import ClientCore

@Suite struct InputBufferTests {
    /// The daemon always has more bytes to send than one read accepts.
    @Test func messagesAreCompleteIfReadsEndInTheMiddle() {
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
