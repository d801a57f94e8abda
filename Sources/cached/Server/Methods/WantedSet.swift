import CacheCore
import CacheKey
import CacheModel
import CacheWire
import Synchronization

/// The images that a `Fetch` names, in order. Thread-safe.
///
/// A change takes a time that does not depend on the number of images, so that a list can be scrolled at the rate of
/// the screen.
final class WantedSet: Sendable {
    struct Element: Sendable {
        let url: RequestedURL
        let priority: CacheModel.Priority
    }

    fileprivate struct State: Sendable {
        /// `nil` where an image was dropped.
        var places: [Element?]
        var count: Int
        /// The place of each image. `nil` until the first change: texts that are not URLs and repetitions are in
        /// the first replies, but not in the set that is changed.
        var index: [CacheKey: Int]?
    }

    private let state: Mutex<State>

    init(_ elements: [Element]) {
        state = Mutex(State(places: elements, count: elements.count))
    }

    var count: Int { state.withLock { $0.count } }

    var urls: [RequestedURL] { state.withLock { $0.places.compactMap { $0?.url } } }

    /// The images by priority, each once and with its highest.
    var byPriority: [CacheModel.Priority: [ImageRequest]] {
        let elements = state.withLock { $0.places.compactMap(\.self) }
        let requests = elements.compactMap { element in
            element.url.valid.map { ($0, element.priority) }
        }
        guard let first = requests.first?.1, requests.contains(where: { $0.1 != first }) else {
            return requests.first.map { [$0.1: requests.map(\.0)] } ?? [:]
        }
        var highest: [CacheKey: CacheModel.Priority] = [:]
        for (request, priority) in requests {
            highest[request.key] = max(highest[request.key] ?? priority, priority)
        }
        var groups: [CacheModel.Priority: [ImageRequest]] = [:]
        for (request, _) in requests {
            guard let priority = highest.removeValue(forKey: request.key) else { continue }
            groups[priority, default: []].append(request)
        }
        return groups
    }

    subscript(key: CacheKey) -> Element? {
        state.withLock { state in
            state.prepare()
            return state.index?[key].flatMap { state.places[$0] }
        }
    }

    /// Adds an image, or changes its priority. Returns its former priority.
    func insert(_ element: Element, _ key: CacheKey) -> CacheModel.Priority? {
        state.withLock { state in
            state.prepare()
            if let place = state.index?[key] {
                defer { state.places[place] = element }
                return state.places[place]?.priority
            }
            state.index?[key] = state.places.count
            state.places.append(element)
            state.count += 1
            return nil
        }
    }

    /// Removes an image. Returns its priority; `nil` if it is not in the set.
    func remove(_ key: CacheKey) -> CacheModel.Priority? {
        state.withLock { state in
            state.prepare()
            guard let place = state.index?.removeValue(forKey: key) else { return nil }
            defer { state.removed(from: place) }
            return state.places[place]?.priority
        }
    }
}

extension WantedSet.State {
    /// Makes the index before the first change.
    mutating func prepare() {
        if index == nil { compact() }
    }

    mutating func removed(from place: Int) {
        places[place] = nil
        count -= 1
        if places.count > 2 * count + 64 { compact() }
    }

    /// Keeps each image once, with its highest priority, and leaves no gaps.
    private mutating func compact() {
        var kept: [WantedSet.Element?] = []
        var index: [CacheKey: Int] = [:]
        for element in places.lazy.compactMap(\.self) {
            guard let key = element.url.valid?.key else { continue }
            if let place = index[key] {
                if let other = kept[place], other.priority < element.priority {
                    kept[place] = element
                }
            } else {
                index[key] = kept.count
                kept.append(element)
            }
        }
        (places, self.index, count) = (kept, index, kept.count)
    }
}
