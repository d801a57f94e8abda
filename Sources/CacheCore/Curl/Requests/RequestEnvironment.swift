/// The things that all requests share. Belongs to the transfer loop's thread.
final class RequestEnvironment {
    let settings: TransferSettings
    let connections: Connections
    let resolutions: Resolutions
    let servers: KnownServers

    init(
        _ settings: TransferSettings, _ connections: Connections,
        _ servers: KnownServers = KnownServers()
    ) {
        (self.settings, self.connections, self.servers) = (settings, connections, servers)
        resolutions = Resolutions(settings)
    }
}
