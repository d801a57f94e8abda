/// A line of waiting elements, each in it at most once: O(1) at both ends and in the middle. A list
/// linked both ways, its links in a dictionary; most lines are of one, which has none.
struct LinkedSet<Element: Hashable & Sendable>: Sendable {
    private struct Links: Sendable {
        var previous: Element?
        var next: Element?
    }

    /// Of all, where there are two or more.
    private var links = Shards<Element, Links>()
    private(set) var first: Element?
    private var last: Element?
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    func contains(_ element: Element) -> Bool {
        count > 1 ? links.contains(element) : first == element
    }

    /// The first for whom that holds: as many steps as there are before it.
    func first(where holds: (Element) -> Bool) -> Element? {
        var candidate = first
        while let element = candidate, !holds(element) {
            candidate = count > 1 ? links[element]?.next : nil
        }
        return candidate
    }

    /// Puts an element at the end, unless it is in the line already.
    mutating func append(_ element: Element) {
        guard let last else { return begin(with: element) }
        guard !contains(element) else { return }
        if count == 1 { links[last] = Links() }
        links.update(last) { $0.next = element }
        links[element] = Links(previous: last, next: nil)
        self.last = element
        count += 1
    }

    /// Puts an element at the front, unless it is in the line already.
    mutating func prepend(_ element: Element) {
        guard let first else { return begin(with: element) }
        guard !contains(element) else { return }
        if count == 1 { links[first] = Links() }
        links.update(first) { $0.previous = element }
        links[element] = Links(previous: nil, next: first)
        self.first = element
        count += 1
    }

    private mutating func begin(with element: Element) {
        (first, last, count) = (element, element, 1)
    }

    /// Takes an element out; whether it was there.
    @discardableResult
    mutating func remove(_ element: Element) -> Bool {
        guard count > 1 else { return end(with: element) }
        guard let gone = links.removeValue(forKey: element) else { return false }
        if let previous = gone.previous {
            links.update(previous) { $0.next = gone.next }
        } else {
            first = gone.next
        }
        if let next = gone.next {
            links.update(next) { $0.previous = gone.previous }
        } else {
            last = gone.previous
        }
        count -= 1
        if count == 1, let first { _ = links.removeValue(forKey: first) }
        return true
    }

    private mutating func end(with element: Element) -> Bool {
        guard first == element else { return false }
        (first, last, count) = (nil, nil, 0)
        return true
    }

    /// Puts an element that is in the line at its end.
    mutating func moveToEnd(_ element: Element) {
        guard element != last, remove(element) else { return }
        append(element)
    }
}
