import CClient

/// Where the daemon listens, and whether and how one is started if none does.
public final class DaemonPlace: Sendable {
    /// The sockets to try, in order.
    public let sockets: [[UInt8]]
    /// Whether a daemon is started if none answers.
    public let starts: Bool
    /// The places that the program has named. Other programs that it starts inherit the environment.
    private let directory: [UInt8]?
    private let socket: [UInt8]?
    /// Whether the usual sockets count, one of which the user's service manager can serve.
    private let isUsual: Bool

    /// The place by the rules of ``Places``. A directory counts for the daemon only together with a socket: at the
    /// usual socket, other programs expect the usual directory.
    ///
    /// - Parameter starts: `false` starts none, and so does `no` in `CACHED_START`.
    public init(directory: [UInt8]?, socket: [UInt8]?, starts: Bool = true) {
        sockets = Places.sockets(socket)
        self.starts = starts && !Places.forbidsStart
        isUsual = socket == nil && !Places.hasSocketVariable
        (self.directory, self.socket) = (directory, socket)
    }

    /// Sockets at which no daemon is started.
    package init(sockets: [[UInt8]]) {
        (self.sockets, starts, isUsual) = (sockets, false, false)
        (directory, socket) = (nil, sockets.first)
    }

    private init(_ other: DaemonPlace, starts: Bool) {
        (sockets, directory, socket) = (other.sockets, other.directory, other.socket)
        (self.starts, isUsual) = (starts, other.isUsual)
    }

    /// The same place, with or without starting a daemon.
    public func starting(_ starts: Bool) -> DaemonPlace { DaemonPlace(self, starts: starts) }

    /// Whether a daemon answers at a socket, or could be started. It waits for nothing.
    public var isAvailable: Bool { isAnswered || (starts && Self.program("cached") != nil) }

    private var isAnswered: Bool {
        do throws(Connection.Failure) {
            _ = try Connection(sockets)
            return true
        } catch {
            return error == .isBusy
        }
    }

    /// Whether one of the sockets exists, as after a crash of the daemon, or while it restarts.
    var hasSocketFile: Bool { sockets.contains(where: Places.exists) }

    /// The commands that start a daemon, the first of which that succeeds; none without the program `cached`. The
    /// service manager comes first: its daemon does not end with the session of this program.
    var startCommands: [[[UInt8]]] {
        guard let cached = Self.program("cached") else { return [] }
        var commands: [[[UInt8]]] = []
        if isUsual, Places.hasServiceManager, let systemctl = Self.program("systemctl") {
            let words: [StaticString] = ["--user", "--no-ask-password", "start", "cached.socket"]
            commands.append([systemctl] + words.map { StaticText.bytes($0) })
        }
        let words: [StaticString] = ["--detach", "--idle-exit", "10min"]
        commands.append([cached] + words.map { StaticText.bytes($0) } + socketOption)
        if socket != nil { commands[commands.count - 1] += directoryOption }
        return commands
    }

    /// The command that puts a file into the cache; `nil` without the program `cachectl`.
    func importCommand(_ url: [UInt8], _ file: [UInt8]) -> [[UInt8]]? {
        guard let cachectl = Self.program("cachectl") else { return nil }
        // A daemon that is named has to be there.
        return [cachectl, StaticText.bytes("import")] + (isAnswered ? socketOption : [])
            + directoryOption + [StaticText.bytes("--"), url, file]
    }

    private var socketOption: [[UInt8]] {
        socket.map { [StaticText.bytes("--socket"), $0] } ?? []
    }
    private var directoryOption: [[UInt8]] {
        directory.map { [StaticText.bytes("--directory"), $0] } ?? []
    }

    /// The path of a program; `nil` if it is not installed.
    private static func program(_ name: StaticString) -> [UInt8]? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { room in
            guard let base = room.baseAddress,
                cclient_find(cString(name.utf8Start), base, room.count) != 0
            else { return nil }
            return Places.bytes(base)
        }
    }
}
