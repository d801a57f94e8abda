/// A dictionary in parts, each of which grows by itself: so the largest step is to move a few hundred
/// values. One dictionary of 100,000 downloads moves all of them when it grows, 100 ms under the lock.
struct Shards<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// None to begin with, and then one: most of these never grow.
    private var parts: [[Key: Value]] = []

    /// Values in the one part before there are many.
    private static var few: Int { 1024 }
    private static var many: Int { 256 }

    var isEmpty: Bool { parts.allSatisfy(\.isEmpty) }
    var count: Int { parts.reduce(0) { $0 + $1.count } }
    var values: some Sequence<Value> { parts.lazy.flatMap(\.values) }

    subscript(key: Key) -> Value? {
        get { parts.isEmpty ? nil : parts[part(of: key)][key] }
        _modify { yield &parts[grownPart(of: key)][key] }
        set { parts[grownPart(of: key)][key] = newValue }
    }

    /// Changes a value in its place, if it is there; see ``Swift/Dictionary/update(_:_:)``.
    @discardableResult @inline(__always)
    mutating func update<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        parts.isEmpty ? nil : parts[part(of: key)].update(key, change)
    }

    /// Cheaper than to ask for the value.
    func contains(_ key: Key) -> Bool {
        !parts.isEmpty && parts[part(of: key)].index(forKey: key) != nil
    }

    mutating func removeValue(forKey key: Key) -> Value? {
        parts.isEmpty ? nil : parts[part(of: key)].removeValue(forKey: key)
    }

    /// The part where a key may be added.
    private mutating func grownPart(of key: Key) -> Int {
        if parts.isEmpty { parts = [[:]] }
        if parts.count == 1, parts[0].count >= Self.few { spread() }
        return part(of: key)
    }

    private mutating func spread() {
        let few = parts[0]
        parts = Array(repeating: [:], count: Self.many)
        for (key, value) in few { parts[part(of: key)][key] = value }
    }

    /// By the upper bits of the hash: the lower ones say where in a part.
    private func part(of key: Key) -> Int {
        guard parts.count > 1 else { return 0 }
        return Int(UInt(bitPattern: key.hashValue) >> 32) % parts.count
    }
}

extension Shards: Sequence {
    func makeIterator() -> some IteratorProtocol<(key: Key, value: Value)> {
        parts.lazy.joined().makeIterator()
    }
}
