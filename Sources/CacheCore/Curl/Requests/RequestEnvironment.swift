/// The things that all requests share. Belongs to the transfer loop's thread.
final class RequestEnvironment {
    let settings: TransferSettings
    let connections: Connections
    let resolutions: Resolutions

    init(_ settings: TransferSettings, _ connections: Connections) {
        self.settings = settings
        self.connections = connections
        resolutions = Resolutions(settings)
    }
}
