import Glibc

/// The environment variables that determine the socket and the directory.
public enum Environment {
    /// The names of the variables.
    static let names = [
        "CACHED_SOCKET", "CACHE_DIRECTORY", "HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
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
        return values
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
