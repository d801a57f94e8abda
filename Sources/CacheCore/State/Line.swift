/// A line of waiting elements, each in it at most once: O(1) at both ends and in the middle. A list
/// linked both ways, its links in a dictionary.
struct Line<Element: Hashable & Sendable>: Sendable {
    private struct Links: Sendable {
        var previous: Element?
        var next: Element?
    }

    private var links = Shards<Element, Links>()
    private(set) var first: Element?
    private var last: Element?

    var isEmpty: Bool { first == nil }
    var count: Int { links.count }

    func contains(_ element: Element) -> Bool { links.contains(element) }

    /// The first for whom that holds: as many steps as there are before it.
    func first(where holds: (Element) -> Bool) -> Element? {
        var candidate = first
        while let element = candidate, !holds(element) { candidate = links[element]?.next }
        return candidate
    }

    /// Puts an element at the end, unless it is in the line already.
    mutating func append(_ element: Element) {
        guard !contains(element) else { return }
        links[element] = Links(previous: last, next: nil)
        if let last { links[last]?.next = element } else { first = element }
        last = element
    }

    /// Puts an element at the front, unless it is in the line already.
    mutating func prepend(_ element: Element) {
        guard !contains(element) else { return }
        links[element] = Links(previous: nil, next: first)
        if let first { links[first]?.previous = element } else { last = element }
        first = element
    }

    /// Takes an element out; whether it was there.
    @discardableResult
    mutating func remove(_ element: Element) -> Bool {
        guard let gone = links.removeValue(forKey: element) else { return false }
        if let previous = gone.previous {
            links[previous]?.next = gone.next
        } else {
            first = gone.next
        }
        if let next = gone.next {
            links[next]?.previous = gone.previous
        } else {
            last = gone.previous
        }
        return true
    }

    /// Puts an element that is in the line at its end.
    mutating func moveToEnd(_ element: Element) {
        guard element != last, remove(element) else { return }
        append(element)
    }
}
