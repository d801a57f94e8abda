import CClient

/// Starts a daemon, by one command after the other until one succeeds. Its functions never wait.
///
/// Several programs can do so at the same time: a `cached --detach` that finds a daemon succeeds.
package struct DaemonStart: ~Copyable {
    private var commands: [[[UInt8]]] = []
    private var run = ProgramRun()
    /// Why no daemon could be started, for people; empty while that is not known.
    package private(set) var reason: [UInt8] = []
    /// Whether the reason is that the program is not installed.
    private(set) var lacksProgram = false

    package init() {}

    package var isRunning: Bool { run.isRunning }
    /// Becomes readable when ``step()`` has something to do; -1 if only time can tell.
    package var descriptor: Int32 { run.descriptor }

    package mutating func begin(_ place: DaemonPlace) {
        commands = place.startCommands.reversed()
        lacksProgram = commands.isEmpty
        reason =
            lacksProgram
            ? StaticText.bytes("there is no program `cached` to start; install it") : []
        runNext()
    }

    /// Goes on as far as possible. Returns whether the start is over: a daemon answers now, or ``reason`` says why not.
    package mutating func step() -> Bool {
        if let status = run.status() {
            reason = []
            if status > 0 {
                let name = StaticText.bytes("cached: ")
                let error = run.lastError
                reason = error.starts(with: name) ? Array(error.dropFirst(name.count)) : error
                if reason.isEmpty { reason = StaticText.bytes("`cached --detach` failed") }
                runNext()
            }
        }
        return !isRunning
    }

    private mutating func runNext() {
        while let command = commands.popLast() {
            let result = run.start(command)
            if result == 0 { return }
            reason = StaticText.bytes("cannot run ") + command[0] + StaticText.bytes(": ")
            reason += Places.bytes(strerror(result))
        }
    }

    /// Starts a daemon and waits for the end of that, for some seconds at most. Returns why there is none; `nil` if one
    /// answers.
    package static func wait(_ place: DaemonPlace) -> [UInt8]? {
        var start = DaemonStart()
        start.begin(place)
        let end = cclient_now() + 10_000
        while !start.step() {
            guard cclient_now() < end else {
                return StaticText.bytes("`cached --detach` does not end")
            }
            _ = cclient_wait(start.descriptor, 0, 20)
        }
        return start.reason.isEmpty ? nil : start.reason
    }
}
