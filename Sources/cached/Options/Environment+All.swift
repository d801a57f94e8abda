import CacheWire
import Glibc

extension Environment {
    /// All variables of the process. Fails if a variable that the daemon reads is not UTF-8. environ(7).
    static func all() throws(StartFailure) -> [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 {
                let name = String(parts[0])
                guard String(validatingCString: text) != nil || !isRead(name) else {
                    throw .configuration(notUTF8(name))
                }
                variables[name] = String(parts[1])
            }
            entry += 1
        }
        return withHome(variables)
    }

    private static let prefixes = [
        "CACHE", "XDG_", "MEMORY_PRESSURE_", "AWS_", "CREDENTIALS_",
    ]

    private static func isRead(_ name: String) -> Bool {
        name == "HOME" || prefixes.contains { name.hasPrefix($0) }
    }
}
