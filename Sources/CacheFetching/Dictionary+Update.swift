extension Dictionary {
    /// Changes a value in place and returns the result of `change`. `nil` if the key has no value.
    ///
    /// `self[key]?.change()` does the same, but it moves the value out and back in coroutines that
    /// allocate: six times for a dictionary within another (Swift 6.3). The difference counts in
    /// code that runs for every download.
    @discardableResult @inline(__always)
    package mutating func update<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        guard let place = index(forKey: key) else { return nil }
        return change(&values[place])
    }

    /// Changes a value in place. If the key has no value, a new value is inserted and changed.
    @inline(__always)
    package mutating func update(
        _ key: Key, default new: @autoclosure () -> Value, _ change: (inout Value) -> Void
    ) {
        guard update(key, change) == nil else { return }
        var value = new()
        change(&value)
        self[key] = value
    }
}
