import Glibc

extension ClientError {
    /// The error for a failed connect(2) to `path`.
    static func connecting(to path: String, errno number: Int32) -> ClientError {
        switch number {
        case ENOENT, ECONNREFUSED, ENOTDIR:
            .noDaemon(at: [path], cause: number)
        case EACCES, EPERM:
            .notPermitted(at: [path], cause: number)
        default:
            ClientError(
                .input, "cannot connect to \(path): \(String(cString: strerror(number)))",
                cause: number)
        }
    }

    /// - Parameter absent: where no daemon answers.
    static func notPermitted(
        at paths: [String], absent: [String] = [], cause: Int32 = EACCES
    ) -> ClientError {
        let others =
            absent.isEmpty ? "" : ", and no daemon answers at \(absent.joined(separator: " or "))"
        return ClientError(
            .notPermitted,
            "this user is not permitted to connect to \(paths.joined(separator: " or "))\(others): ask its owner "
                + "to permit a group, or name another socket with --socket",
            cause: cause)
    }

    static func noDaemon(at paths: [String], cause: Int32?) -> ClientError {
        ClientError(
            .noDaemon,
            "no daemon answers at \(paths.joined(separator: " or ")): "
                + "start it with `cached`, or name another socket with --socket",
            cause: cause)
    }

    /// No daemon answers, and none could be started.
    static func noDaemon(at paths: [String], because reason: String) -> ClientError {
        ClientError(
            .noDaemon,
            "no daemon answers at \(paths.joined(separator: " or ")), and none was started: \(reason)"
        )
    }

    static func pathTooLong(_ path: String, limit: Int) -> ClientError {
        ClientError(
            .pathTooLong,
            "the socket path \(path) has \(path.utf8.count) bytes, but the system permits \(limit): "
                + "name a shorter one with --socket",
            cause: ENAMETOOLONG)
    }
}
