import CacheCore
import CacheFetching
import CacheKey
import CacheWire
import Synchronization

/// The images that a `Fetch` names, in order. Thread-safe.
///
/// A change takes a time that does not depend on the number of images, so that a list can be scrolled at the rate of
/// the screen.
final class WantedSet: Sendable {
    struct Element: Sendable {
        let url: RequestedURL
        let terms: WaitTerms
    }

    fileprivate struct State: Sendable {
        /// `nil` where an image was dropped.
        var places: [Element?]
        var count: Int
        /// The place of each image. `nil` until the first change: texts that are not URLs and repetitions are in
        /// the first replies, but not in the set that is changed.
        var index: [CacheKey: Int]?
        /// Bytes of all texts.
        var text: Int
    }

    private let state: Mutex<State>

    init(_ elements: [Element]) {
        let text = elements.reduce(0) { $0 + $1.textBytes }
        state = Mutex(State(places: elements, count: elements.count, text: text))
    }

    var count: Int { state.withLock { $0.count } }

    /// Bytes that the daemon holds for the images.
    var memory: Int { state.withLock { $0.count * IncomingCall.memoryOfDownload + $0.text } }

    var urls: [RequestedURL] { state.withLock { $0.places.compactMap { $0?.url } } }

    /// The images by terms, each once and with those of the highest priority.
    var byTerms: [WaitTerms: [ImageRequest]] {
        let elements = state.withLock { $0.places.compactMap(\.self) }
        let requests = elements.compactMap { element in
            element.url.valid.map { ($0, element.terms) }
        }
        guard let first = requests.first?.1, requests.contains(where: { $0.1 != first }) else {
            return requests.first.map { [$0.1: requests.map(\.0)] } ?? [:]
        }
        var highest: [CacheKey: WaitTerms] = [:]
        for (request, terms) in requests where highest[request.key]?.yields(to: terms) ?? true {
            highest[request.key] = terms
        }
        var groups: [WaitTerms: [ImageRequest]] = [:]
        for (request, _) in requests {
            guard let terms = highest.removeValue(forKey: request.key) else { continue }
            groups[terms, default: []].append(request)
        }
        return groups
    }

    subscript(key: CacheKey) -> Element? {
        state.withLock { state in
            state.prepare()
            return state.index?[key].flatMap { state.places[$0] }
        }
    }

    /// Adds an image, or changes its terms. Returns its former ones.
    func insert(_ element: Element, _ key: CacheKey) -> WaitTerms? {
        state.withLock { state in
            state.prepare()
            state.text += element.textBytes
            if let place = state.index?[key] {
                state.text -= state.places[place]?.textBytes ?? 0
                defer { state.places[place] = element }
                return state.places[place]?.terms
            }
            state.index?[key] = state.places.count
            state.places.append(element)
            state.count += 1
            return nil
        }
    }

    /// Removes an image. Returns its terms; `nil` if it is not in the set.
    func remove(_ key: CacheKey) -> WaitTerms? {
        state.withLock { state in
            state.prepare()
            guard let place = state.index?.removeValue(forKey: key) else { return nil }
            defer { state.removed(from: place) }
            return state.places[place]?.terms
        }
    }
}

extension WantedSet.State {
    /// Makes the index before the first change.
    mutating func prepare() {
        if index == nil { compact() }
    }

    mutating func removed(from place: Int) {
        text -= places[place]?.textBytes ?? 0
        places[place] = nil
        count -= 1
        if places.count > 2 * count + 64 { compact() }
    }

    /// Keeps each image once, with the terms of its highest priority, and leaves no gaps.
    private mutating func compact() {
        var kept: [WantedSet.Element?] = []
        var index: [CacheKey: Int] = [:]
        for element in places.lazy.compactMap(\.self) {
            guard let key = element.url.valid?.key else { continue }
            if let place = index[key] {
                if let other = kept[place], other.terms.yields(to: element.terms) {
                    kept[place] = element
                }
            } else {
                index[key] = kept.count
                kept.append(element)
            }
        }
        (places, self.index, count) = (kept, index, kept.count)
        text = kept.reduce(0) { $0 + ($1?.textBytes ?? 0) }
    }
}

extension WantedSet.Element {
    fileprivate var textBytes: Int { url.text.utf8.count }
}
