/// The rights that the daemon gives up after its start.
enum RestrictionExtent: String, Sendable, CaseIterable {
    /// Nothing.
    case no
    /// Capabilities, new privileges, and system calls that it does not need.
    case partly
    /// Those, and the rights over files that it did not know at its start.
    case yes
}
