import Glibc

/// The groups and users of the machine. nss(5).
enum UserDatabase {
    /// A group by its name or its number; `nil` if it does not exist. getgrnam_r(3).
    static func group(_ name: String) -> gid_t? {
        if let number = gid_t(name) { return number }
        var entry = Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        lookUp { getgrnam_r(name, &entry, $0, $1, &found) }
        return found == nil ? nil : entry.gr_gid
    }

    /// A user by its name or its number; `nil` if it does not exist. getpwnam_r(3).
    static func user(_ name: String) -> uid_t? {
        if let number = uid_t(name) { return number }
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        lookUp { getpwnam_r(name, &entry, $0, $1, &found) }
        return found == nil ? nil : entry.pw_uid
    }

    /// Calls `body` with a buffer for the texts of an entry, and again with a larger one while it says that the buffer
    /// is too small: a group can have thousands of members.
    private static func lookUp(_ body: (UnsafeMutablePointer<CChar>, Int) -> Int32) {
        var size = 4096
        while size <= 1 << 24 {
            let code = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
                buffer.baseAddress.map { body($0, size) } ?? ENOMEM
            }
            guard code == ERANGE else { return }
            size *= 4
        }
    }
}
