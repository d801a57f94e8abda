import Glibc

/// The environment variables that determine the socket and the directory.
public enum Environment {
    /// The names of the variables.
    static let names = [
        "CACHED_SOCKET", "CACHED_DIRECTORY", "HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
    ]

    /// Reads the variables. getenv(3).
    ///
    /// - Returns: the variables that are set.
    /// - Throws: ``ClientError`` with the code `invalidEnvironment` if one is not UTF-8.
    public static func current() throws(ClientError) -> [String: String] {
        var values: [String: String] = [:]
        for name in names {
            guard let value = getenv(name) else { continue }
            guard let text = String(validatingCString: value) else {
                throw ClientError(.invalidEnvironment, notUTF8(name))
            }
            values[name] = text
        }
        return withHome(values)
    }

    /// The variables, with the home directory of the user database for a missing `HOME`. Some service managers and
    /// containers do not set it.
    package static func withHome(_ values: [String: String]) -> [String: String] {
        guard values.nonEmpty("HOME") == nil, let home = homeInUserDatabase else { return values }
        return values.merging(["HOME": home]) { $1 }
    }

    /// getpwuid_r(3).
    private static var homeInUserDatabase: String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16 << 10) { room in
            guard let start = room.baseAddress else { return nil }
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard getpwuid_r(geteuid(), &entry, start, room.count, &found) == 0,
                let text = found.flatMap({ $0.pointee.pw_dir }),
                let home = String(validatingCString: text)
            else { return nil }
            return home.hasPrefix("/") ? home : nil
        }
    }

    /// The error message for a variable that is not UTF-8.
    package static func notUTF8(_ name: String) -> String {
        "\(name) is not UTF-8; set it to a path that is"
    }
}

extension [String: String] {
    /// The value of a variable, unless it is empty.
    func nonEmpty(_ name: String) -> String? {
        self[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The value of a variable of the XDG base directory specification. A relative path is ignored,
    /// because the specification says "All paths set in these environment variables must be
    /// absolute".
    func absolute(_ name: String) -> String? {
        self[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
