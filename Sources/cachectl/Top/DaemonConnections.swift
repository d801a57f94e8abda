import CacheWire

/// The connections of `top` to one daemon.
final class DaemonConnections {
    /// For the start and end of all downloads.
    let downloads: PipelinedClient
    /// For the rows on the screen.
    let rows: PipelinedClient
    /// For all other calls.
    let requests: PipelinedClient

    init(_ connect: () throws -> Client) throws {
        downloads = PipelinedClient(try connect())
        rows = PipelinedClient(try connect())
        requests = PipelinedClient(try connect())
    }

    var all: [PipelinedClient] { [downloads, rows, requests] }
}
