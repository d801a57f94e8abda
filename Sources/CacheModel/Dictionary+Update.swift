extension Dictionary {
    /// Changes a value in its place and returns what the change does; `nil` where there is none.
    ///
    /// `self[key]?.change()` says the same, but moves the value out and back, in coroutines that allocate:
    /// six times for a dictionary within another (Swift 6.3). That counts in what is done for every download.
    @discardableResult @inline(__always)
    package mutating func update<Result>(_ key: Key, _ change: (inout Value) -> Result) -> Result? {
        guard let place = index(forKey: key) else { return nil }
        return change(&values[place])
    }

    /// The same, beginning with a new value where there is none.
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
