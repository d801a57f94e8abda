/// The names of servers. All names that lead to one address and port share the limit of one host.
///
/// The first name that a server is reached by stands for all of them. Another name is known to lead there only when a
/// download is about to connect, so the download moves to the other host then.
struct ServerNames: Sendable {
    private var names: [ServerAddress: Origin] = [:]
    private var aliases: [Origin: Origin] = [:]

    /// The most addresses, and the most further names, that are remembered.
    private static let remembered = 4096

    /// The name that stands for a server.
    func name(of origin: Origin) -> Origin { aliases.isEmpty ? origin : aliases[origin] ?? origin }

    /// A download connects to a server by a name. Returns the name that stands for the server.
    mutating func connects(_ origin: Origin, to address: ServerAddress) -> Origin {
        guard let name = names[address], name != origin else {
            if names.count >= Self.remembered { names.removeAll() }
            names[address] = origin
            aliases[origin] = nil
            return origin
        }
        if aliases.count >= Self.remembered { aliases.removeAll() }
        aliases[origin] = name
        return name
    }
}
