import ArgumentParser
import CacheWire

/// `cachectl store`
struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Ask the store that several machines share whether it can be used.",
        discussion: """
            The daemon asks for an object that is not there, puts a small one there, reads it and \
            deletes it. What is wrong is printed with what to do about it.

            Exit status: 0 the store can be used; 1 it cannot, or there is none.

            Example: cachectl store
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    func run() throws {
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
