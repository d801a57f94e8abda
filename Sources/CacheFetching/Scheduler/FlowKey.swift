/// Identifies a flow: the downloads from one origin that one client requested with one priority.
/// Flows take turns.
package struct FlowKey: Hashable, Sendable {
    package let priority: Priority
    package let client: ClientID
    package let origin: Origin
}

extension FlowKey {
    init(_ turn: FairQueue<Origin>.Turn) {
        self.init(priority: turn.priority, client: turn.client, origin: turn.member)
    }

    var turn: FairQueue<Origin>.Turn { .init(origin, client, priority) }
}
