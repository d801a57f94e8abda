/// Identifies one download. A later download of the same key has another identifier, so late events of an
/// earlier one are recognised.
package struct FlightID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }
}
