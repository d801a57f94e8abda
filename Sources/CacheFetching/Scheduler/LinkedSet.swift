/// Elements in order, each at most once. Operations at both ends and in the middle take O(1).
///
/// This is a doubly linked list whose links are in a dictionary. Most of these sets have one
/// element, which needs no links.
package struct LinkedSet<Element: Hashable & Sendable>: Sendable {
    private struct Links: Sendable {
        var previous: Element?
        var next: Element?
    }

    /// The links of all elements, if there are two or more.
    private var links = [Element: Links]()
    package private(set) var first: Element?
    private var last: Element?
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    package func contains(_ element: Element) -> Bool {
        count > 1 ? links.index(forKey: element) != nil : first == element
    }

    /// All elements, in order.
    package var elements: [Element] {
        var elements: [Element] = []
        _ = first { element in
            elements.append(element)
            return false
        }
        return elements
    }

    /// The first element that meets the condition. Takes one step for each element before it.
    package func first(where condition: (Element) -> Bool) -> Element? {
        var candidate = first
        while let element = candidate, !condition(element) {
            candidate = count > 1 ? links[element]?.next : nil
        }
        return candidate
    }

    /// Puts an element at the end, unless it is in the set already.
    package mutating func append(_ element: Element) {
        guard let last else { return begin(with: element) }
        guard !contains(element) else { return }
        if count == 1 { links[last] = Links() }
        links.update(last) { $0.next = element }
        links[element] = Links(previous: last, next: nil)
        self.last = element
        count += 1
    }

    /// Puts an element at the front, unless it is in the set already.
    package mutating func prepend(_ element: Element) {
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

    /// Removes an element. Returns whether it was in the set.
    @discardableResult
    package mutating func remove(_ element: Element) -> Bool {
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

    /// Moves an element of the set to the end.
    package mutating func moveToEnd(_ element: Element) {
        guard element != last, remove(element) else { return }
        append(element)
    }
}
