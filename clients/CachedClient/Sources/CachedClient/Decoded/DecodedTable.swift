/// Values with their cost, and the tasks that make them. The least recently used are released first.
struct DecodedTable<Value: Sendable> {
    private struct Entry {
        let value: Value
        let cost: Int
        var used: UInt64
    }

    private let limit: Int
    private(set) var cost = 0
    private var entries: [DecodedKey: Entry] = [:]
    private var tasks: [DecodedKey: Task<Value, any Error>] = [:]
    /// Counts uses.
    private var clock: UInt64 = 0

    init(limit: Int) {
        self.limit = limit
    }

    mutating func value(of key: DecodedKey) -> Value? {
        clock += 1
        entries[key]?.used = clock
        return entries[key]?.value
    }

    /// The task that makes the value, or has made it.
    mutating func task(
        of key: DecodedKey, _ make: () -> Task<Value, any Error>
    ) -> Task<Value, any Error> {
        if let value = value(of: key) { return Task { value } }
        if let task = tasks[key] { return task }
        let task = make()
        tasks[key] = task
        return task
    }

    mutating func finish(_ key: DecodedKey, _ value: Value, _ cost: Int) {
        tasks[key] = nil
        guard cost <= limit else { return }
        clock += 1
        self.cost += cost - (entries[key]?.cost ?? 0)
        entries[key] = Entry(value: value, cost: cost, used: clock)
        if self.cost > limit { shrink(to: limit) }
    }

    mutating func fail(_ key: DecodedKey) {
        tasks[key] = nil
    }

    mutating func shrink(to limit: Int) {
        guard cost > limit else { return }
        for (key, entry) in entries.sorted(by: { $0.value.used < $1.value.used }) {
            guard cost > limit else { return }
            entries[key] = nil
            cost -= entry.cost
        }
    }
}
