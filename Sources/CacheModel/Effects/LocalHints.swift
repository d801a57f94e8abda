/// Which files of a key may lie in the directory when its download begins. A hint saves a look, no more.
package struct LocalHints: Hashable, Sendable {
    /// A partial to continue.
    package var partial = true
    /// An entry to ask the origin about.
    package var entry = true

    package init(partial: Bool = true, entry: Bool = true) {
        (self.partial, self.entry) = (partial, entry)
    }
}
