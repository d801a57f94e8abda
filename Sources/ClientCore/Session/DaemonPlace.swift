import CClient

/// Where the daemon listens, and whether and how one is started if none does.
public final class DaemonPlace: Sendable {
    /// The sockets to try, in order.
    public let sockets: [[UInt8]]
    /// Whether a daemon is started if none answers.
    public let starts: Bool
    /// Options of the daemon that is started: the places that the program has named. It inherits the environment.
    private let options: [[UInt8]]
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
        var options: [[UInt8]] = []
        if let socket {
            options += [StaticText.bytes("--socket"), socket]
            if let directory { options += [StaticText.bytes("--directory"), directory] }
        }
        self.options = options
    }

    /// Sockets at which no daemon is started.
    package init(sockets: [[UInt8]]) {
        (self.sockets, starts, options, isUsual) = (sockets, false, [], false)
    }

    private init(_ other: DaemonPlace, starts: Bool) {
        (sockets, options, isUsual) = (other.sockets, other.options, other.isUsual)
        self.starts = starts
    }

    /// The same place, with or without starting a daemon.
    public func starting(_ starts: Bool) -> DaemonPlace { DaemonPlace(self, starts: starts) }

    /// Whether a daemon answers at a socket, or could be started. It waits for nothing.
    public var isAvailable: Bool {
        do throws(Connection.Failure) {
            _ = try Connection(sockets)
            return true
        } catch {
            return error == .isBusy || (starts && Self.program("cached") != nil)
        }
    }

    /// Whether one of the sockets exists, as after a crash of the daemon, or while it restarts.
    var hasSocketFile: Bool {
        sockets.contains { socket in
            var file = cclient_file()
            return (socket + [0]).withUnsafeBufferPointer { path in
                path.baseAddress.map { cclient_look(cString($0), &file) == 0 } ?? false
            }
        }
    }

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
        commands.append([cached] + words.map { StaticText.bytes($0) } + options)
        return commands
    }

    /// The path of a program; `nil` if it is not installed.
    static func program(_ name: StaticString) -> [UInt8]? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { room in
            guard let base = room.baseAddress,
                cclient_find(cString(name.utf8Start), base, room.count) != 0
            else { return nil }
            return Places.bytes(base)
        }
    }
}
