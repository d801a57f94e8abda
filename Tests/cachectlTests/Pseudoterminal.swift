import Foundation

/// Runs the program on a pseudoterminal of 100 columns and 24 lines. Python's standard library
/// creates it and reads the drawn bytes from the other end.
enum Pseudoterminal {
    static var isAvailable: Bool {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/python3") }
    }

    /// Runs the program on a terminal until it ends.
    ///
    /// - Parameters:
    ///   - arguments: the arguments of the program.
    ///   - onTerminal: the standard streams, by number, that are the terminal. Other output is
    ///     collected.
    ///   - environment: variables in addition to `TERM` and `LANG`.
    ///   - answer: the bytes to type when the program has queried the terminal's attributes.
    ///   - interruptedAt: a text. Each time the program draws it, the next signal is sent.
    ///   - signals: the signals to send. SIGCONT follows a signal that stops the program.
    static func run(
        _ arguments: [String], onTerminal: Set<Int> = [2], environment: [String: String] = [:],
        answer: String = "", interruptedAt: String = "", by signals: [Int32] = [SIGINT]
    ) throws -> Outcome {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        let setting: [String: Any] = [
            "program": Program.url.path, "arguments": arguments, "streams": onTerminal.sorted(),
            "environment": ["TERM": "xterm", "LANG": "C.UTF-8"].merging(environment) { $1 },
            "answer": answer, "interrupt": interruptedAt,
            "signals": interruptedAt.isEmpty ? [] : signals,
        ]
        let json = try JSONSerialization.data(withJSONObject: setting)
        process.arguments = ["python3", "-c", script, String(decoding: json, as: UTF8.self)]
        process.standardOutput = output
        try process.run()
        let report = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return try JSONDecoder().decode(Outcome.self, from: report)
    }

    struct Outcome: Decodable {
        let status: Int32
        /// Standard output, if it is not the terminal.
        let output: String
        /// All bytes that the terminal received.
        let drawn: String
        /// Whether the terminal's modes are the same as before.
        let isRestored: Bool
    }

    private static let script = """
        import fcntl, json, os, pty, signal, struct, subprocess, sys, termios
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        # The signals that a shell makes a background job ignore.
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, signal.SIG_DFL)
        signal.alarm(40)
        given = json.loads(sys.argv[1])
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        modes = termios.tcgetattr(slave)
        modes[1] &= ~termios.OPOST
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        modes = termios.tcgetattr(slave)
        streams = given["streams"]
        child = subprocess.Popen([given["program"]] + given["arguments"],
            stdin=slave if 0 in streams else subprocess.DEVNULL,
            stdout=slave if 1 in streams else subprocess.PIPE,
            stderr=slave, env=given["environment"], preexec_fn=os.setpgrp)
        drawn = b""
        answer = given["answer"].encode()
        interrupt, signals, seen = given["interrupt"].encode(), given["signals"], 0
        other, restored = os.dup(slave), False
        os.close(slave)
        os.set_blocking(master, False)
        import select
        while True:
            # Its last bytes can arrive after its end.
            ended = child.poll() is not None
            ready = select.select([master], [], [], 0.02)[0]
            if ready:
                drawn += os.read(master, 65536)
            elif ended:
                break
            if answer and b"[c" in drawn:
                os.write(master, answer)
                answer = b""
            if signals and interrupt in drawn[seen:]:
                number, seen = signals.pop(0), len(drawn)
                child.send_signal(number)
                if number == signal.SIGTSTP:
                    os.waitid(os.P_PID, child.pid, os.WSTOPPED)
                    child.send_signal(signal.SIGCONT)
        json.dump({
            "status": child.wait(), "drawn": drawn.decode(),
            "output": child.stdout.read().decode() if child.stdout else "",
            "isRestored": termios.tcgetattr(other) == modes}, sys.stdout)
        """
}
