/// An array that grows without moving its elements, so growth takes no memory for a copy and no time.
///
/// Elements own nothing that has to be released. Not safe for concurrent access.
struct Chunks<Element>: ~Copyable, @unchecked Sendable {
    // Unchecked: only this value owns its chunks, and it never shares them.

    private static var shift: UInt32 { 14 }
    private static var size: Int { 1 << Int(shift) }

    private var chunks: [UnsafeMutablePointer<Element>] = []
    private(set) var count: UInt32 = 0

    deinit {
        for chunk in chunks { chunk.deallocate() }
    }

    func address(of place: UInt32) -> UnsafeMutablePointer<Element> {
        chunks[Int(place >> Self.shift)] + Int(place) & (Self.size - 1)
    }

    subscript(place: UInt32) -> Element {
        unsafeAddress { UnsafePointer(address(of: place)) }
        nonmutating unsafeMutableAddress { address(of: place) }
    }

    /// Returns the place of the new element.
    @discardableResult
    mutating func append(_ element: Element) -> UInt32 {
        if Int(count) == chunks.count * Self.size { chunks.append(.allocate(capacity: Self.size)) }
        address(of: count).initialize(to: element)
        defer { count += 1 }
        return count
    }
}
