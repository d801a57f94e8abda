/// S3-FIFO: a small queue of a tenth for new objects, a main queue for those used there, and a list of those that
/// were not, which come to the main queue if they come again (Yang and others, SOSP 2023).
package struct S3FIFO: CachePolicy {
    private struct Object {
        let bytes: Int64
        var uses = 0
        var isSmall: Bool
    }

    private let capacity: Int64
    private var links = Queue.Links()
    private var small = Queue()
    private var main = Queue()
    private var objects: [Int: Object] = [:]
    private var ghostLinks = Queue.Links()
    private var ghosts = Queue()
    private var ghostSizes: [Int: Int64] = [:]

    package init(capacity: Int64) { self.capacity = capacity }

    package mutating func request(_ request: Request) -> Bool {
        if let uses = objects[request.object]?.uses {
            objects[request.object]?.uses = min(uses + 1, 3)
            return true
        }
        guard request.bytes <= capacity else { return false }
        while small.bytes + main.bytes + request.bytes > capacity { evict() }
        let isSmall = !forgetGhost(request.object)
        objects[request.object] = Object(bytes: request.bytes, isSmall: isSmall)
        if isSmall {
            small.append(request.object, request.bytes, &links)
        } else {
            main.append(request.object, request.bytes, &links)
        }
        return false
    }

    private mutating func evict() {
        if small.bytes * 10 >= capacity || main.oldest == Queue.none {
            evictFromSmall()
        } else {
            evictFromMain()
        }
    }

    private mutating func evictFromSmall() {
        let number = small.oldest
        guard let object = objects[number] else { return }
        small.remove(number, object.bytes, &links)
        if object.uses > 1 {
            objects[number] = Object(bytes: object.bytes, isSmall: false)
            main.append(number, object.bytes, &links)
        } else {
            objects[number] = nil
            remember(number, object.bytes)
        }
    }

    private mutating func evictFromMain() {
        let number = main.oldest
        guard let object = objects[number] else { return }
        main.remove(number, object.bytes, &links)
        if object.uses > 0 {
            objects[number]?.uses -= 1
            main.append(number, object.bytes, &links)
        } else {
            objects[number] = nil
        }
    }

    private mutating func remember(_ number: Int, _ bytes: Int64) {
        ghostSizes[number] = bytes
        ghosts.append(number, bytes, &ghostLinks)
        while ghosts.bytes * 10 > capacity * 9 { _ = forgetGhost(ghosts.oldest) }
    }

    /// Whether the object was among the ghosts.
    private mutating func forgetGhost(_ number: Int) -> Bool {
        guard let bytes = ghostSizes.removeValue(forKey: number) else { return false }
        ghosts.remove(number, bytes, &ghostLinks)
        return true
    }
}
