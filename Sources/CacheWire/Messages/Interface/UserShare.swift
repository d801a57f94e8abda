// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// What one user of the machine takes of the daemon.
public struct UserShare: WireValue {
    /// The number of the user.
    public var user: Int
    /// Connected clients.
    public var connections: Int
    /// Running downloads.
    public var downloads: Int
    /// Images that callers of the user wait for.
    public var waiting: Int

    public init(
        user: Int,
        connections: Int,
        downloads: Int,
        waiting: Int
    ) {
        self.user = user
        self.connections = connections
        self.downloads = downloads
        self.waiting = waiting
    }

    public func write(to json: inout JSONText) {
        json.object { json in
            json.member("user", user)
            json.member("connections", connections)
            json.member("downloads", downloads)
            json.member("waiting", waiting)
        }
    }
}
