import Foundation
import StubDaemon
import Testing

/// `fetch` on a terminal, which Python's standard library makes.
@Suite(.timeLimit(.minutes(1)), .enabled(if: Python.isInstalled, "python3 is not installed"))
struct TerminalTests {
    private let receiving =
        #"{"parameters":{"items":[{"url":"https://a/1","key":"k","state":"inFlight","#
        + #""phase":"receiving","received":42,"total":100}]},"continues":true}"#
    private let cached =
        #"{"parameters":{"items":[{"url":"https://a/1","key":"k","state":"cached","path":"/c/1"}]}}"#

    @Test func theDisplayIsDrawnAndErased() throws {
        let stub = try StubDaemon(replies: [receiving, cached])
        let outcome = try Python.fetch(from: stub.path, interrupting: false)
        #expect(outcome.status == 0)
        #expect(outcome.output == "/c/1\n")
        #expect(outcome.talk.contains("42.0%") && outcome.talk.contains("a/1"))
        #expect(outcome.talk.hasSuffix("\r\u{1B}[J"))
    }

    @Test func controlCErasesTheDisplayAndEndsWith130() throws {
        let stub = try StubDaemon(replies: [receiving])
        let outcome = try Python.fetch(from: stub.path, interrupting: true)
        #expect(outcome.status == 130)
        #expect(outcome.output == "")
        #expect(outcome.talk.hasSuffix("\u{1B}[1A\r\u{1B}[J"))
    }
}

/// A terminal of 100 columns, whose master end is read until the program has ended.
private enum Python {
    static let path = "/usr/bin/env"

    static var isInstalled: Bool {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/python3") }
    }

    static let script = """
        import fcntl, os, pty, signal, struct, subprocess, sys, termios
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        signal.alarm(30)
        program, socket, interrupting = sys.argv[1:]
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        modes = termios.tcgetattr(slave)
        modes[1] &= ~termios.OPOST
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        child = subprocess.Popen([program, "fetch", "https://a/1", "--socket", socket],
            stdout=subprocess.PIPE, stderr=slave, env={"TERM": "xterm", "LANG": "C.UTF-8"})
        os.close(slave)
        talk = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            talk += piece
            if interrupting == "yes" and b"42.0%" in talk:
                child.send_signal(signal.SIGINT)
                interrupting = "sent"
        sys.stdout.buffer.write(child.stdout.read())
        sys.stderr.buffer.write(talk)
        sys.stdout.flush()
        sys.exit(child.wait())
        """

    static func fetch(from socket: String, interrupting: Bool) throws -> Program.Outcome {
        let process = Process()
        let output = Pipe()
        let talk = Pipe()
        process.executableURL = URL(filePath: path)
        process.arguments = [
            "python3", "-c", script, Program.url.path, socket, interrupting ? "yes" : "no",
        ]
        process.standardOutput = output
        process.standardError = talk
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        let told = try talk.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Program.Outcome(
            status: process.terminationStatus,
            output: String(decoding: printed, as: UTF8.self),
            talk: String(decoding: told, as: UTF8.self))
    }
}
