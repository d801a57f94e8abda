import CLinux
import CacheWire
import Glibc

/// The facts that the checks of `doctor` look at.
struct Examination: Sendable {
    /// The daemon that answers, or why none does.
    let daemon: Result<DaemonFacts, ClientError>
    /// The cache directory: that of the daemon, else that of the environment.
    let directory: String?
    /// The variables by which other programs find a proxy, those that are set.
    let proxyVariables: [String]
    /// The current time as a Unix second.
    let now: Int

    /// The figures of the daemon; empty if none answers.
    var stats: [String: JSONValue] { (try? daemon.get())?.stats ?? [:] }

    func int(_ key: String) -> Int? {
        guard case .int(let number)? = stats[key] else { return nil }
        return number
    }

    func text(_ key: String) -> String? {
        guard case .string(let text)? = stats[key] else { return nil }
        return text
    }
}

extension Examination {
    /// curl(1), "Environment".
    private static let proxyNames = [
        "http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY",
    ]

    /// Asks the daemon and the environment.
    ///
    /// - Parameter socket: the value of `--socket`.
    static func now(socket: String?) throws(ClientError) -> Examination {
        let environment = try Environment.current()
        let daemon = Result { () throws(ClientError) in try DaemonFacts(socket: socket) }
        let asked = (try? daemon.get())?.directory
        return Examination(
            daemon: daemon,
            directory: asked ?? DirectoryLookup.clientPath(environment: environment),
            proxyVariables: proxyNames.filter { getenv($0).map { $0.pointee != 0 } ?? false },
            now: TimeText.now())
    }
}
