/// Identifies a flow: the downloads from one host that one client requested with one priority.
/// Flows take turns.
package struct FlowKey: Hashable, Sendable {
    package let priority: Priority
    package let client: ClientID
    package let origin: Origin
}
