import Glibc

/// The settings about who may connect, and for how long the daemon waits for clients.
extension Settings {
    /// The permission bits and the group of the socket.
    static func socketAccess(_ values: SettingValues) throws -> (mode: mode_t, group: gid_t?) {
        let group = values.text(.socketGroup).flatMap { UserDatabase.group($0) }
        if values.text(.socketGroup) != nil, group == nil {
            throw values.bad(.socketGroup, "a group of this machine")
        }
        guard let mode = values.text(.socketMode).flatMap({ mode_t($0, radix: 8) }), mode <= 0o777
        else {
            throw values.bad(.socketMode, "permissions in octal like 660")
        }
        return (mode, group)
    }

    /// The permission bits of a cache directory that the daemon makes: open to the users who may connect to the
    /// socket, which takes permission to write.
    static func directoryMode(_ socketMode: mode_t) -> mode_t {
        0o700 | (socketMode & 0o020 != 0 ? 0o050 : 0) | (socketMode & 0o002 != 0 ? 0o005 : 0)
    }

    /// Whether the mode of a socket lets in other users than its owner.
    static func isOpenToOthers(_ socketMode: mode_t) -> Bool { socketMode & 0o022 != 0 }

    static func managers(_ values: SettingValues) throws -> Managers {
        do throws(Managers.UnknownAccount) {
            return try Managers(names: values.list(.managers).filter { !$0.isEmpty })
        } catch {
            throw values.bad(
                .managers, "a group or a user of this machine", shown: error.name)
        }
    }

    static func idleExit(_ values: SettingValues) throws -> Duration? {
        guard let text = values.text(.idleExit) else { return nil }
        guard let time = TimeSpan(text), time.duration > .zero else {
            throw values.bad(.idleExit, "a time like 10min")
        }
        return time.duration
    }
}
