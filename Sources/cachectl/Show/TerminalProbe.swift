import Glibc

/// Asks a terminal what pictures it can draw, and waits for the answers, but not for long.
struct TerminalProbe {
    /// Who has not answered by then does not know the question.
    private static let patience = Duration.seconds(1)

    /// - Parameter file: a PNG file it may be able to read by itself.
    static func ask(about file: String?) -> TerminalAnswers {
        guard isatty(STDIN_FILENO) == 1, let port = TerminalPort(of: STDOUT_FILENO),
            let modes = TerminalModes(of: port.descriptor)
        else { return TerminalAnswers() }
        // A signal that ends the program waits until the modes are restored.
        return Signals.withoutInterruption {
            modes.makeImmediate()
            defer { modes.restore() }
            port.write(questions(file))
            return answers(from: port)
        }
    }

    /// Two for kitty (its "Querying support and available transmission mediums"), XTVERSION of xterm, and
    /// last the one every terminal answers: Primary Device Attributes (ECMA-48, DA).
    private static func questions(_ file: String?) -> String {
        let data = "i=\(TerminalAnswers.dataQuestion),s=1,v=1,a=q,t=d,f=24;AAAA"
        let path = file.map { file in
            "i=\(TerminalAnswers.fileQuestion),a=q,t=f,f=100;\(Picture.base64(Array(file.utf8)))"
        }
        let kitty = [data, path].compactMap(\.self).map { "\u{1B}_G\($0)\u{1B}\\" }.joined()
        return kitty + "\u{1B}[>q\u{1B}[c"
    }

    /// poll(2).
    private static func answers(from port: TerminalPort) -> TerminalAnswers {
        let end = ContinuousClock.now + patience
        var bytes: [UInt8] = []
        while true {
            let left = Int32((end - .now) / .milliseconds(1))
            let events = Int16(POLLIN) | (port.isDrained ? 0 : Int16(POLLOUT))
            var entry = pollfd(fd: port.descriptor, events: events, revents: 0)
            guard left > 0, poll(&entry, 1, left) > 0 else { return TerminalAnswers(bytes) }
            port.flush()
            guard let news = port.read() else { return TerminalAnswers(bytes) }
            bytes += news
            let answers = TerminalAnswers(bytes)
            if answers.isComplete { return answers }
        }
    }
}
