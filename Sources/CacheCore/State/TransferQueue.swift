internal import CacheKey

/// Downloads that wait for a free transfer: first come, first served within a priority.
///
/// A flight that rises or ends is not searched for: its old place stays behind and is passed over when
/// its turn comes, because the flight is no longer queued under that identity and priority.
struct TransferQueue {
    fileprivate struct Line {
        var flights: [(key: CacheKey, id: FlightID)] = []
        var head = 0
    }

    private var lines = [Line](repeating: Line(), count: Priority.allCases.count)

    mutating func append(_ key: CacheKey, _ id: FlightID, _ priority: Priority) {
        lines[Int(priority.rawValue)].flights.append((key, id))
    }

    /// The next in turn that `isCurrent` confirms, highest priority first.
    mutating func next(
        where isCurrent: (CacheKey, FlightID, Priority) -> Bool
    ) -> CacheKey? {
        for priority in Priority.allCases.reversed() {
            while let (key, id) = lines[Int(priority.rawValue)].pop() {
                if isCurrent(key, id, priority) { return key }
            }
        }
        return nil
    }
}

extension TransferQueue.Line {
    fileprivate mutating func pop() -> (CacheKey, FlightID)? {
        guard head < flights.count else {
            self = .init()
            return nil
        }
        defer {
            head += 1
            if head > 4096, head * 2 > flights.count {
                flights.removeFirst(head)
                head = 0
            }
        }
        return flights[head]
    }
}
