import CClient

/// Calls with one reply, for which the caller waits. They return 0 or more, or a negative errno.
public enum SingleCall {
    /// The descriptor of a cached image's file from the daemon.
    public static func open(_ url: [UInt8], _ place: DaemonPlace) -> Int32 {
        switch outcome(of: Calls.open(url), place, starts: false) {
        case .failed(let failure): return failure
        case .reply(let reply, let file):
            guard file < 0 else { return file }
            // Without a file, the item has a failure.
            let isRight = reply.error == nil && reply.events.first?.kind != nil
            return isRight ? -ENOENT : -EBADMSG
        }
    }

    /// Pins or unpins an image.
    public static func pin(_ url: [UInt8], _ isPinned: Bool, _ place: DaemonPlace) -> Int32 {
        answer(to: Calls.pin([url], isPinned), place) { reply in
            guard let event = reply.events.first else { return -EBADMSG }
            return event.kind == nil ? 0 : -ENOENT
        }
    }

    /// Removes an image.
    public static func remove(_ url: [UInt8], _ place: DaemonPlace) -> Int32 {
        answer(to: Calls.remove([url]), place) { _ in 0 }
    }

    /// Removes all images of an account.
    public static func remove(account: [UInt8], _ place: DaemonPlace) -> Int32 {
        answer(to: Calls.remove(account: account), place) { _ in 0 }
    }

    /// Passes on the states of images, one for each URL. Starts no daemon.
    public static func status(
        _ urls: [[UInt8]], _ place: DaemonPlace,
        _ body: (Event, UnsafeBufferPointer<UInt8>) -> Void
    ) -> Int32 {
        states(urls.count, outcome(of: Calls.status(urls), place, starts: false), body)
    }

    /// Leaves a refresh to the daemon, and passes on the state of the image.
    public static func refresh(
        _ url: [UInt8], _ priority: WantedPriority, _ terms: WantTerms, _ place: DaemonPlace,
        _ body: (Event, UnsafeBufferPointer<UInt8>) -> Void
    ) -> Int32 {
        let want = Wanted(url: url, priority: priority, terms: terms)
        return states(1, outcome(of: Calls.refresh(want), place, starts: true), body)
    }

    /// Passes on the states in a reply, which has to have so many.
    private static func states(
        _ count: Int, _ outcome: Exchange.Outcome,
        _ body: (Event, UnsafeBufferPointer<UInt8>) -> Void
    ) -> Int32 {
        switch outcome {
        case .failed(let failure): return failure
        case .reply(let reply, let file):
            if file >= 0 { close(file) }
            guard reply.error == nil, reply.events.count == count else { return -EBADMSG }
            for event in reply.events { reply.texts.withUnsafeBufferPointer { body(event, $0) } }
            return 0
        }
    }

    /// The result of a call for managers of the cache.
    private static func answer(
        to message: [UInt8], _ place: DaemonPlace, _ body: (ScannedReply) -> Int32
    ) -> Int32 {
        switch outcome(of: message, place, starts: true) {
        case .failed(let failure): return failure
        case .reply(let reply, let file):
            if file >= 0 { close(file) }
            if reply.isRefused { return -EPERM }
            return reply.error == nil ? body(reply) : -EBADMSG
        }
    }

    private static func outcome(
        of message: [UInt8], _ place: DaemonPlace, starts: Bool
    ) -> Exchange.Outcome {
        guard var exchange = Exchange(message, place, starts: starts) else {
            return .failed(-ECONNREFUSED)
        }
        while true {
            if let outcome = exchange.step() { return outcome }
            _ = cclient_wait(
                exchange.descriptor, exchange.hasOutput ? 1 : 0, Int32(exchange.timeLeft))
        }
    }
}
