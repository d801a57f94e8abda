internal import CClient

/// The events that the engine's thread waits for. poll(2).
struct EngineWait {
    private var entries: [pollfd] = []
    /// The longest wait in milliseconds; -1 for no limit.
    private var timeout: Int32 = -1

    mutating func add(_ descriptor: Int32, withOutput: Bool = false) {
        let events = withOutput ? POLLIN | POLLOUT : POLLIN
        entries.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
    }

    mutating func limit(to milliseconds: Int64?) {
        guard let milliseconds else { return }
        let limit = Int32(clamping: milliseconds)
        timeout = timeout < 0 ? limit : min(timeout, limit)
    }

    /// Waits for one of the descriptors, for the end of the time, or for `wakeUp`, which it resets.
    consuming func forEvents(or wakeUp: Int32) {
        add(wakeUp)
        _ = poll(&entries, nfds_t(entries.count), timeout)
        var count: UInt64 = 0
        _ = read(wakeUp, &count, 8)
    }
}
