import Glibc

/// Asks a terminal which picture formats it supports.
struct TerminalProbe {
    /// A terminal that has not answered by then does not know the query.
    private static let timeout = Duration.seconds(1)

    /// - Parameter file: the path of a PNG that the terminal may be able to read itself.
    static func ask(about file: String?) -> GraphicsSupport {
        guard isatty(STDIN_FILENO) == 1, let device = TerminalDevice(of: STDOUT_FILENO),
            let modes = TerminalModes(of: device.descriptor)
        else { return GraphicsSupport() }
        // If a signal ends the program, it takes effect after the modes are restored.
        return Signals.withoutInterruption {
            modes.makeImmediate()
            defer { modes.restore() }
            device.write(queries(file))
            return replies(from: device)
        }
    }

    /// Two queries for kitty (its "Querying support and available transmission mediums") and
    /// XTVERSION of xterm. The last query is Primary Device Attributes (ECMA-48, DA), because every
    /// terminal answers it.
    private static func queries(_ file: String?) -> String {
        let data = "i=\(GraphicsSupport.dataQueryID),s=1,v=1,a=q,t=d,f=24;AAAA"
        let path = file.map { file in
            "i=\(GraphicsSupport.fileQueryID),a=q,t=f,f=100;\(Picture.base64(Array(file.utf8)))"
        }
        let kitty = [data, path].compactMap(\.self).map { "\u{1B}_G\($0)\u{1B}\\" }.joined()
        return kitty + "\u{1B}[>q\u{1B}[c"
    }

    /// Collects the replies until the last one or the timeout. poll(2).
    private static func replies(from device: TerminalDevice) -> GraphicsSupport {
        let end = ContinuousClock.now + timeout
        var bytes: [UInt8] = []
        while true {
            let left = Int32((end - .now) / .milliseconds(1))
            let events = Int16(POLLIN) | (device.isDrained ? 0 : Int16(POLLOUT))
            var entry = pollfd(fd: device.descriptor, events: events, revents: 0)
            guard left > 0, poll(&entry, 1, left) > 0 else { return GraphicsSupport(bytes) }
            device.flush()
            guard let received = device.read() else { return GraphicsSupport(bytes) }
            bytes += received
            let replies = GraphicsSupport(bytes)
            if replies.isComplete { return replies }
        }
    }
}
