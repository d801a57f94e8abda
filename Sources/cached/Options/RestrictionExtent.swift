/// The rights that the daemon gives up after its start.
enum RestrictionExtent: String, Sendable, CaseIterable {
    /// All of them for a daemon that something starts again when it ends; those over files stay to one in the foreground.
    case auto
    /// Nothing.
    case no
    /// Capabilities, new privileges, and system calls that it does not need.
    case partly
    /// Those, and the rights over files that it did not know at its start.
    case yes
}
