import CClient

/// Calls with one reply, for which the caller waits.
public enum SingleCall {
    /// The descriptor of a cached image's file from the daemon; a negative errno if there is none.
    public static func open(_ url: [UInt8], _ sockets: [[UInt8]]) -> Int32 {
        switch outcome(of: Calls.open(url), sockets) {
        case .failed(let failure): return failure
        case .reply(let reply, let file):
            guard file < 0 else { return file }
            // Without a file, the item has a failure.
            let isRight = reply.error == nil && reply.events.first?.kind != nil
            return isRight ? -ENOENT : -EBADMSG
        }
    }

    /// Pins or unpins an image. Returns 0 or a negative errno.
    public static func pin(_ url: [UInt8], _ isPinned: Bool, _ sockets: [[UInt8]]) -> Int32 {
        switch outcome(of: Calls.pin([url], isPinned), sockets) {
        case .failed(let failure): return failure
        case .reply(let reply, let file):
            if file >= 0 { close(file) }
            if reply.isRefused { return -EPERM }
            guard reply.error == nil, let event = reply.events.first else { return -EBADMSG }
            return event.kind == nil ? 0 : -ENOENT
        }
    }

    private static func outcome(of message: [UInt8], _ sockets: [[UInt8]]) -> Exchange.Outcome {
        guard var exchange = Exchange(message, sockets) else { return .failed(-ECONNREFUSED) }
        while true {
            if let outcome = exchange.step() { return outcome }
            _ = cclient_wait(
                exchange.descriptor, exchange.hasOutput ? 1 : 0, Int32(exchange.timeLeft))
        }
    }
}
