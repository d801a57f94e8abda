/// Plain LRU: the least recently used object goes first.
package struct LeastRecentlyUsed: CachePolicy {
    private let capacity: Int64
    private var links = Queue.Links()
    private var queue = Queue()
    private var sizes: [Int: Int64] = [:]

    package init(capacity: Int64) { self.capacity = capacity }

    package mutating func request(_ request: Request) -> Bool {
        if sizes[request.object] != nil {
            queue.remove(request.object, request.bytes, &links)
            queue.append(request.object, request.bytes, &links)
            return true
        }
        guard request.bytes <= capacity else { return false }
        while queue.bytes + request.bytes > capacity {
            let victim = queue.oldest
            queue.remove(victim, sizes.removeValue(forKey: victim) ?? 0, &links)
        }
        sizes[request.object] = request.bytes
        queue.append(request.object, request.bytes, &links)
        return false
    }
}
