import Foundation
import Glibc
import TestSupport

/// ssh(1) to this machine. Each connection starts its own server at the other end of a pipe, so no port
/// is used and nothing stays behind.
struct SecureShell: Sendable {
    /// A command prefix: a shell command appended to it runs on a terminal at the other end.
    let command: String

    private static let server = "/usr/sbin/sshd"

    /// Whether client and server are installed, and the user of the tests can log in.
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
        // As root, the server changes into this directory. sshd(8)
        if geteuid() == 0 { mkdir("/run/sshd", 0o755) }
        command = """
            ssh -F none -tt -i \(folder.file("user")) -o SendEnv='*' -o LogLevel=ERROR \
            -o ProxyCommand='\(Self.server) -i -f \(settings)' \
            -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null localhost
            """
    }
}
