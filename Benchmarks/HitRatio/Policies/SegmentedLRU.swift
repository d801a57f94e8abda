/// SLRU of the textbook: a hit moves an object into the protected part. If that is larger than four fifths, its
/// least recently used object becomes the most recently used of the other part (Karedla, Love and Wherry, 1994).
package struct SegmentedLRU: CachePolicy {
    private struct Object {
        let bytes: Int64
        var isProtected = false
    }

    private let capacity: Int64
    private var links = Queue.Links()
    private var probation = Queue()
    private var protected = Queue()
    private var objects: [Int: Object] = [:]

    package init(capacity: Int64) { self.capacity = capacity }

    package mutating func request(_ request: Request) -> Bool {
        if let object = objects[request.object] {
            used(request.object, object)
            return true
        }
        guard request.bytes <= capacity else { return false }
        while probation.bytes + protected.bytes + request.bytes > capacity { evict() }
        objects[request.object] = Object(bytes: request.bytes)
        probation.append(request.object, request.bytes, &links)
        return false
    }

    private mutating func used(_ number: Int, _ object: Object) {
        if object.isProtected {
            protected.remove(number, object.bytes, &links)
        } else {
            probation.remove(number, object.bytes, &links)
        }
        objects[number]?.isProtected = true
        protected.append(number, object.bytes, &links)
        while protected.bytes * 5 > capacity * 4, let bytes = objects[protected.oldest]?.bytes {
            let demoted = protected.oldest
            protected.remove(demoted, bytes, &links)
            objects[demoted]?.isProtected = false
            probation.append(demoted, bytes, &links)
        }
    }

    private mutating func evict() {
        let isEmpty = probation.oldest == Queue.none
        let victim = isEmpty ? protected.oldest : probation.oldest
        let bytes = objects.removeValue(forKey: victim)?.bytes ?? 0
        if isEmpty {
            protected.remove(victim, bytes, &links)
        } else {
            probation.remove(victim, bytes, &links)
        }
    }
}
