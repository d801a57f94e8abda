extension Array {
    /// The elements in order, in slices of `count`. The last slice can be shorter.
    func chunks(ofCount count: Int) -> some Sequence<ArraySlice<Element>> {
        stride(from: 0, to: self.count, by: count).lazy.map {
            self[$0..<Swift.min($0 + count, self.count)]
        }
    }
}
