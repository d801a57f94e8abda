import Foundation
import Glibc
import TestSupport

/// ssh(1) to this machine: each connection has a server of its own at the other end of a pipe, so there
/// is neither a port nor anything that stays.
struct SecureShell: Sendable {
    /// What runs a command on a terminal at the other end, when a shell reads it in front of the command.
    let command: String

    private static let server = "/usr/sbin/sshd"

    /// Whether both ends are installed, and whoever runs the tests may log in.
    static var isUsable: Bool {
        let programs = [server, "/usr/bin/ssh", "/usr/bin/ssh-keygen"]
        let login = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_shell) } ?? ""
        return programs.allSatisfy { access($0, X_OK) == 0 } && login.hasSuffix("sh")
    }

    init(in scope: TestScope) async throws {
        let folder = try TemporaryDirectory(in: scope)
        for key in ["host", "user"] {
            try await runSuccessfully(
                "ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", folder.file(key)])
        }
        let settings = try folder.write(
            """
            HostKey \(folder.file("host"))
            AuthorizedKeysFile \(folder.file("user.pub"))
            StrictModes no
            UsePAM no
            PasswordAuthentication no
            AcceptEnv *

            """, to: "settings")
        // The server of root goes into it where it has nothing to do yet. sshd(8)
        if geteuid() == 0 { mkdir("/run/sshd", 0o755) }
        command = """
            ssh -F none -tt -i \(folder.file("user")) -o SendEnv='*' -o LogLevel=ERROR \
            -o ProxyCommand='\(Self.server) -i -f \(settings)' \
            -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null localhost
            """
    }
}
