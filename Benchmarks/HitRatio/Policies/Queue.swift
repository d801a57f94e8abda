/// Objects in an order, with the bytes they hold. Every object is in one queue at most of those that share
/// their links.
struct Queue {
    /// The neighbours of each object, by its number. They grow with the numbers.
    struct Links {
        fileprivate var older: [Int] = []
        fileprivate var newer: [Int] = []

        fileprivate mutating func grow(to object: Int) {
            let missing = max(0, object + 1 - older.count)
            older += Array(repeating: Queue.none, count: missing)
            newer += Array(repeating: Queue.none, count: missing)
        }

        func newer(than object: Int) -> Int { newer[object] }
    }

    static let none = -1

    private(set) var oldest = Queue.none
    private(set) var newest = Queue.none
    private(set) var bytes: Int64 = 0

    mutating func append(_ object: Int, _ size: Int64, _ links: inout Links) {
        links.grow(to: object)
        links.older[object] = newest
        links.newer[object] = Self.none
        if newest == Self.none { oldest = object } else { links.newer[newest] = object }
        newest = object
        bytes += size
    }

    mutating func remove(_ object: Int, _ size: Int64, _ links: inout Links) {
        let (older, newer) = (links.older[object], links.newer[object])
        if older == Self.none { oldest = newer } else { links.newer[older] = newer }
        if newer == Self.none { newest = older } else { links.older[newer] = older }
        bytes -= size
    }
}
