#if canImport(ClientCore)
    @testable import ClientCore
#endif

/// A number on which two builds of the scanner have to agree: a hash (FNV-1a) of all that a message says.
func summary(of message: UnsafeRawBufferPointer) -> UInt64 {
    guard let reply = ScannedReply(message) else { return 0 }
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ value: Int64) {
        for shift in stride(from: Int64(0), to: 64, by: 8) {
            hash = (hash ^ UInt64(value >> shift & 0xFF)) &* 0x100_0000_01B3
        }
    }
    func add(_ value: Int?) { add(Int64(value ?? -1)) }
    add(reply.continues ? 1 : 0)
    add(reply.error)
    add(Int64(reply.pressure ?? -1))
    for byte in reply.texts { add(Int64(byte)) }
    for event in reply.events {
        add(Int64(event.state.rawValue))
        add(Int64(event.phase?.rawValue ?? -1))
        for number in [event.received, event.total, event.retryAt, event.freshUntil] {
            add(number)
        }
        add(event.isPinned ? 1 : 0)
        for number in [event.width, event.height, event.httpStatus] { add(Int64(number)) }
        add(event.url)
        add(event.key)
        add(event.path)
        add(event.mediaType)
        add(event.kind)
        add(event.message)
    }
    return hash
}
