import CacheValues

extension Download {
    /// Asks for space for `count` bytes more, unless it is granted already.
    func reserveSpace(for count: Int) throws(Failure) {
        let needed = received + Int64(count)
        guard needed > granted else { return }
        granted = try context.delegate.reserve(for: key, id, needed: needed, length: length)
    }
}
