import CacheWire

extension Check {
    /// Whether a daemon answers, and whether it is as new as this program.
    static let daemon = Check("daemon") { examination in
        switch examination.daemon {
        case .failure(let error):
            return [.wrong(error.message, fix: remedy(error.code))]
        case .success(let daemon):
            let version = examination.text("version") ?? "before 0.1.0"
            guard version == Version.current else {
                return [
                    .wrong(
                        "the daemon at \(daemon.socket) has version \(version), this program "
                            + Version.current,
                        fix: "restart the daemon, so that both are from the same installation")
                ]
            }
            return [
                .ok("version \(version) answers at \(daemon.socket), process \(daemon.process)")
            ]
        }
    }

    private static func remedy(_ code: ClientError.Code) -> String {
        switch code {
        case .notPermitted: "become a member of the socket's group, or start a daemon of your own"
        case .noDaemon: "start it: cached, or systemctl --user start cached"
        case .disconnected: "restart the daemon, and report what it was doing"
        default: "see the message"
        }
    }
}
