/// Who is next among clients, and for each client which of its hosts: all in turn.
struct Turns: Sendable {
    private var clients = Line<ClientID>()
    private var origins: [ClientID: Line<Origin>] = [:]

    /// The client whose turn it is, and the host whose turn it is with that client.
    var next: (client: ClientID, origin: Origin)? {
        guard let client = clients.first, let origin = origins[client]?.first else { return nil }
        return (client, origin)
    }

    mutating func append(_ client: ClientID, _ origin: Origin) {
        clients.append(client)
        origins[client, default: Line()].append(origin)
    }

    /// Whether it was there.
    mutating func remove(_ client: ClientID, _ origin: Origin) -> Bool {
        guard origins[client]?.remove(origin) == true else { return false }
        if origins[client]?.isEmpty == true {
            origins[client] = nil
            clients.remove(client)
        }
        return true
    }

    /// The next had its turn.
    mutating func rotate() {
        if let client = clients.first { origins[client]?.rotate() }
        clients.rotate()
    }
}
