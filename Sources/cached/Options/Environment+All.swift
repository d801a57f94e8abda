import CacheWire
import Glibc

extension Environment {
    /// Every variable of the process; fails where one that matters is not UTF-8. environ(7).
    static func all() throws(StartFailure) -> [String: String] {
        var variables: [String: String] = [:]
        var entry = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 {
                let name = String(parts[0])
                guard String(validatingCString: text) != nil || !matters(name) else {
                    throw .configuration(notUTF8(name))
                }
                variables[name] = String(parts[1])
            }
            entry += 1
        }
        return variables
    }

    /// Whether something is found by it.
    private static func matters(_ name: String) -> Bool {
        name == "HOME" || ["CACHE", "XDG_", "MEMORY_PRESSURE_"].contains { name.hasPrefix($0) }
    }
}
