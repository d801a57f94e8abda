/// How a derived image waits for its original: as a caller that wants it, so that it has the original's progress and
/// gives it the priority of those who wait for the derived image.
package struct OriginalWait: Sendable {
    /// The caller that stands for the derived image; those before it too, until the original was asked for again.
    package var callers: [WaiterID] = []
    /// The priority with which the original was last asked for. `nil` if it was not asked for yet.
    package var priority: Priority?
    /// Whether it was asked for with the origin's confirmation.
    package var isRefresh = false
}
