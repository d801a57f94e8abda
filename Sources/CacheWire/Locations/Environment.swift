import Glibc

/// The environment variables that decide where socket and directory are.
public enum Environment {
    /// The variables looked at, by this module and nothing else.
    static let names = [
        "CACHED_SOCKET", "CACHE_DIRECTORY", "HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
    ]

    /// Those that are set now; fails where one is not UTF-8. getenv(3).
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

    /// What is wrong with such a variable.
    package static func notUTF8(_ name: String) -> String {
        "\(name) is not UTF-8, and would become another path; set it to one that is"
    }
}

extension [String: String] {
    /// A variable that is set to something; the empty value counts as unset.
    func nonEmpty(_ name: String) -> String? {
        self[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A directory of the XDG base directory specification, which says "All paths set in these
    /// environment variables must be absolute", and relative ones are to be ignored.
    func absolute(_ name: String) -> String? {
        self[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
