/// How many downloads the daemon itself holds, for callers that did not wait or to ask about what is stale:
/// nobody else ends them, so there is a limit.
struct DetachedQuota {
    let limit: Int
    /// Downloads held.
    private(set) var count = 0
    /// Wishes that calls are about to name, each of which may be one more.
    private(set) var promised = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Whether there may be so many more.
    func hasRoom(for more: Int) -> Bool {
        count + promised + more <= limit
    }

    mutating func add() { count += 1 }

    mutating func remove() { count -= 1 }

    mutating func promise(_ wishes: Int) { promised += wishes }

    /// All of them are named.
    mutating func keep(_ wishes: Int) { promised -= wishes }
}
