/// The writes to the store that wait for their turn, in order. If there are too many, the oldest is given up.
package struct StoreQueue: Sendable {
    private var tasks: [StoreTask] = []
    private var first = 0

    package static let capacity = 65_536

    package init() {}

    package var count: Int { tasks.count - first }
    package var isEmpty: Bool { count == 0 }

    /// Adds a task at the end. Returns whether the oldest one was given up for it.
    package mutating func append(_ task: StoreTask) -> Bool {
        let isFull = count >= Self.capacity
        if isFull { first += 1 }
        // The places of tasks that are gone are used again from time to time.
        if first >= Self.capacity {
            tasks.removeFirst(first)
            first = 0
        }
        tasks.append(task)
        return isFull
    }

    /// Takes the first task that `mayStart` admits, among the first few.
    package mutating func takeFirst(where mayStart: (StoreTask) -> Bool) -> StoreTask? {
        for index in tasks.indices.dropFirst(first).prefix(Self.reach) where mayStart(tasks[index])
        {
            let task = tasks[index]
            // The order of the others stays as it is.
            for place in stride(from: index, to: first, by: -1) { tasks[place] = tasks[place - 1] }
            first += 1
            if isEmpty { (tasks, first) = ([], 0) }
            return task
        }
        return nil
    }

    /// Places that are looked at if the first task has to wait for another one with its key.
    private static let reach = 8
}
