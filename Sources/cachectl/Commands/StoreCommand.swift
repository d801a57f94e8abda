import ArgumentParser
import CacheValues
import CacheWire
import Glibc

/// `cachectl store`
struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Ask the store that several machines share whether it can be used.",
        discussion: """
            The daemon asks for an object that is not there, puts a small one there, reads it and \
            deletes it. What is wrong is printed with what to do about it.

            With `key NAME FILE` it makes a pair of keys for the machine NAME, and asks no store. \
            The private one goes into FILE, which must not exist yet: CACHED_STORE_SIGN. The public \
            one is printed, a line for the file CACHED_STORE_TRUST of all machines.

            Exit status: 0 the store can be used, or the pair is made; 1 it cannot, or there is none.

            Example: cachectl store
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Argument(help: ArgumentHelp("The words key NAME FILE.", valueName: "words"))
    var words: [String] = []

    func validate() throws {
        guard words.isEmpty || words.count == 3 && words[0] == "key" else {
            throw ValidationError("the only words are key NAME FILE")
        }
    }

    func run() throws {
        if !words.isEmpty { return try makeKeys(words[1], words[2]) }
        let client = try socket.connect()
        let reply = try client.call(Methods.CheckStore.self, .init())
        var output = Output()
        if format.json {
            try output.json(reply)
        } else if reply.store != nil {
            var table = Table([.left, .left])
            for line in table.lines(Self.rows(reply)) { try output.line(line) }
        }
        try output.flush()
        if reply.store == nil {
            StandardError.report(
                "the daemon has no store; set CACHED_STORE (docs/understand/store.md)")
        } else if let problem = reply.problem {
            StandardError.report(problem.printable)
        }
        let isUsable = reply.store != nil && reply.problem == nil
        throw (isUsable ? ExitStatus.success : .incomplete).error
    }

    /// open(2), write(2).
    private func makeKeys(_ name: String, _ path: String) throws {
        guard let key = SigningKey(name: name) else {
            throw CommandFailure(
                status: .usage,
                message:
                    "a name has 1 to 64 letters, digits, dots, - and _; this one is \(name.printable)"
            )
        }
        let line = Array("\(key.text)\n".utf8)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let isWritten = file >= 0 && write(file, line, line.count) == line.count && fsync(file) == 0
        let cause = String(cString: strerror(errno))
        if file >= 0 { close(file) }
        guard isWritten else {
            throw CommandFailure(
                status: .inputOutput, message: "cannot write \(path.printable): \(cause)")
        }
        var output = Output()
        try output.line(key.verifying.text)
        try output.flush()
    }

    private static func rows(_ reply: Methods.CheckStore.Reply) -> [[String]] {
        let all: [(String, String?)] = [
            ("store", reply.store), ("endpoint", reply.endpoint), ("mode", reply.mode),
            ("state", reply.state), ("clock", reply.clockDifference.map(clock)),
            ("GET", reply.getMilliseconds.map { "\($0) ms" }),
            ("PUT", reply.putMilliseconds.map { "\($0) ms" }),
            ("DELETE", reply.deleteMilliseconds.map { "\($0) ms" }),
            (
                "creation",
                reply.isCreationExclusive.map {
                    $0 ? "exclusive" : "not exclusive: machines may put an image there twice"
                }
            ),
        ]
        return all.compactMap { name, value in value.map { [name, $0.printable] } }
    }

    private static func clock(_ difference: Int) -> String {
        switch difference {
        case -1...1: "the same as the store's"
        case 2...: "\(difference) s ahead of the store's"
        default: "\(-difference) s behind the store's"
        }
    }
}
