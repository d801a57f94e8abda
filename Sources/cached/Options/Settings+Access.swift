import Configuration
import Glibc

/// The settings about who may connect, and for how long the daemon waits for clients.
extension Settings {
    /// The permission bits and the group of the socket. A group that was chosen is let in, unless the mode says
    /// something else.
    static func socketAccess(
        _ options: DaemonOptions, _ reader: ConfigReader
    ) throws -> (mode: mode_t, group: gid_t?) {
        let name = options.socketGroup ?? reader.string(.socketGroup)
        let group = name.flatMap { UserDatabase.group($0) }
        if let name, group == nil { throw bad(.socketGroup, name, "a group of this machine") }
        let text = options.socketMode ?? reader.string(.socketMode)
        return (try mode(text ?? (group == nil ? "600" : "660")), group)
    }

    private static func mode(_ text: String) throws -> mode_t {
        guard let mode = mode_t(text, radix: 8), mode <= 0o777 else {
            throw bad(.socketMode, text, "permissions in octal like 660")
        }
        return mode
    }

    /// The permission bits of a cache directory that the daemon makes: open to the users who may connect to the
    /// socket, which takes permission to write.
    static func directoryMode(_ socketMode: mode_t) -> mode_t {
        0o700 | (socketMode & 0o020 != 0 ? 0o050 : 0) | (socketMode & 0o002 != 0 ? 0o005 : 0)
    }

    /// Whether the mode of a socket lets in other users than its owner.
    static func isOpenToOthers(_ socketMode: mode_t) -> Bool { socketMode & 0o022 != 0 }

    static func managers(_ options: DaemonOptions, _ reader: ConfigReader) throws -> Managers {
        let names = options.managers.isEmpty ? reader.list(.managers) : options.managers
        return try Managers(names: names.filter { !$0.isEmpty })
    }

    static func idleExit(_ options: DaemonOptions, _ reader: ConfigReader) throws -> Duration? {
        guard let text = options.idleExit ?? reader.string(.idleExit) else { return nil }
        guard let time = TimeSpan(text), time.duration > .zero else {
            throw bad(.idleExit, text, "a time like 10min")
        }
        return time.duration
    }
}
