import CLinux
import CacheCore
import Glibc
import Logging

/// Gives up every right that the daemon does not need after its start, so that a fault in it helps an attacker little.
///
/// It restricts the calling thread and all threads that this one starts. So it has to come before any other thread, and
/// after the socket is bound and the directory is locked.
struct Restriction {
    private let logger: Logger
    /// What the kernel or the system around the daemon refused to take away.
    private var missing: [String] = []

    private init(_ logger: Logger) {
        self.logger = logger
    }

    /// - Parameters:
    ///   - paths: the only files that the daemon needs. `nil` for no limit, also not of sockets.
    ///   - usesAbstractSockets: whether the daemon needs an abstract socket of another program.
    static func apply(
        _ paths: PermittedPaths?, directory: String, usesAbstractSockets: Bool, _ logger: Logger
    ) {
        var restriction = Restriction(logger)
        restriction.dropPrivileges(directory)
        if let paths { restriction.limit(to: paths, usesAbstractSockets) }
        restriction.limitCalls()
        restriction.report()
    }

    /// No capability is needed. The exception is root with a cache directory of another user: without its rights it could
    /// not write there. capabilities(7)
    private mutating func dropPrivileges(_ directory: String) {
        if clinux_forbid_privileges() != 0 { missing.append("no_new_privs") }
        var facts = stat()
        let isForeign = stat(directory, &facts) == 0 && facts.st_uid != geteuid()
        let kept = isForeign ? Self.rightsOverFiles : 0
        if clinux_keep_capabilities(kept) != 0 { missing.append("capabilities") }
        guard geteuid() == 0 else { return }
        logger.notice(
            "the daemon runs as root and does not need to; give it a user of its own",
            metadata: ["capabilities": "\(isForeign ? "CAP_DAC_OVERRIDE CAP_FOWNER" : "none")"])
    }

    /// `CAP_DAC_OVERRIDE` and `CAP_FOWNER`.
    private static let rightsOverFiles: UInt64 = 1 << 1 | 1 << 3

    /// landlock(7)
    private mutating func limit(to paths: PermittedPaths, _ usesAbstractSockets: Bool) {
        let rules = clinux_paths_begin(usesAbstractSockets)
        guard rules >= 0 else { return missing.append("Landlock") }
        defer { close(rules) }
        for rule in paths.rules where clinux_paths_add(rules, rule.path, rule.access) != 0 {
            logger.debug("no such path, so no rule for it", metadata: ["path": "\(rule.path)"])
        }
        if clinux_paths_enforce(rules) != 0 { missing.append("Landlock") }
    }

    /// seccomp(2)
    private mutating func limitCalls() {
        if clinux_limit_calls(DeriverProgram.path != nil) != 0 { missing.append("seccomp") }
    }

    private func report() {
        guard !missing.isEmpty else { return logger.debug("the daemon has restricted itself") }
        logger.notice(
            "this system cannot restrict the daemon in every way; the other restrictions count",
            metadata: ["missing": "\(missing.joined(separator: ", "))"])
    }
}
