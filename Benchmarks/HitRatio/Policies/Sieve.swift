/// SIEVE: a queue in the order of arrival. A hand moves from the oldest to the newest object, spares what was used
/// since it passed, and evicts the first other one (Zhang and others, NSDI 2024).
package struct Sieve: CachePolicy {
    private struct Object {
        let bytes: Int64
        var isUsed = false
    }

    private let capacity: Int64
    private var links = Queue.Links()
    private var queue = Queue()
    private var hand = Queue.none
    private var objects: [Int: Object] = [:]

    package init(capacity: Int64) { self.capacity = capacity }

    package mutating func request(_ request: Request) -> Bool {
        if objects[request.object] != nil {
            objects[request.object]?.isUsed = true
            return true
        }
        guard request.bytes <= capacity else { return false }
        while queue.bytes + request.bytes > capacity { evict() }
        objects[request.object] = Object(bytes: request.bytes)
        queue.append(request.object, request.bytes, &links)
        return false
    }

    private mutating func evict() {
        var victim = hand == Queue.none ? queue.oldest : hand
        while objects[victim]?.isUsed == true {
            objects[victim]?.isUsed = false
            let next = links.newer(than: victim)
            victim = next == Queue.none ? queue.oldest : next
        }
        hand = links.newer(than: victim)
        queue.remove(victim, objects.removeValue(forKey: victim)?.bytes ?? 0, &links)
    }
}
