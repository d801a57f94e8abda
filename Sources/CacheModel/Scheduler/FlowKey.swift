/// A flow: the downloads of one host that one client asked for with one priority. Flows take turns.
package struct FlowKey: Hashable, Sendable {
    package let priority: Priority
    package let client: ClientID
    package let origin: Origin
}
