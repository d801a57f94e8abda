import Glibc
import TestSupport

/// A user of the machine in whose name a test runs programs.
struct TestUser: Sendable {
    let id: uid_t

    static let root = TestUser(id: 0)
    static let greedy = TestUser(id: 54_321)
    static let other = TestUser(id: 54_322)

    /// The words that start a program as this user. setpriv(1)
    var launcher: [String] {
        ["setpriv", "--reuid", "\(id)", "--regid", "\(id)", "--clear-groups", "--"]
    }

    /// Starts a Python script, which gets the socket as its first argument. The module `cached` has functions for
    /// connections and calls.
    func start(
        _ script: String, _ socket: String, _ arguments: [String] = [], in scope: TestScope
    ) throws -> ChildProcess {
        let words = launcher + ["python3", "-c", Self.library + script, socket] + arguments
        return try ChildProcess(words[0], Array(words.dropFirst()), in: scope)
    }

    /// The time a script prints, in milliseconds.
    func measure(
        _ script: String, _ socket: String, _ arguments: [String] = []
    ) async throws -> Duration {
        .milliseconds(try await number(script, socket, arguments))
    }

    /// The number that a script prints last.
    func number(
        _ script: String, _ socket: String, _ arguments: [String] = []
    ) async throws -> Double {
        let words = launcher + ["python3", "-c", Self.library + script, socket] + arguments
        let output = try await run(words[0], Array(words.dropFirst()))
        guard output.status == .success, let line = output.lines.last, let number = Double(line)
        else {
            throw TestFailure("the script failed: \(output.errorText.suffix(500))")
        }
        return number
    }

    /// Fetches images and prints how long that took.
    static let fetch = """
        s = connect(); began = time.monotonic()
        s.sendall(message("Fetch", urls=sys.argv[2:]))
        answer = reply(s)
        assert answer.count(b'"state":"cached"') == len(sys.argv) - 2, answer[:500]
        say((time.monotonic() - began) * 1000)
        """

    /// Opens a port that takes no connection at any address of this machine, because its queue is full.
    static let deadPort = """
        import select
        port = socket.socket(); port.bind(("", 0)); port.listen(0)
        queued = []
        while True:
            s = socket.socket(); s.setblocking(False)
            s.connect_ex(("127.0.0.1", port.getsockname()[1]))
            queued.append(s)
            if not select.select([], [s], [], 0.2)[1]: break

        """

    private static let library = """
        import json, resource, socket, sys, time
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        def connect():
            s = socket.socket(socket.AF_UNIX)
            s.connect(sys.argv[1])
            return s
        def message(method, **parameters):
            return json.dumps({"method": "io.cached.Cache." + method, "parameters": parameters}).encode() + b"\\0"
        def reply(s):
            data = b""
            while not data.endswith(b"\\0"):
                more = s.recv(1 << 20)
                if not more: break
                data += more
            return data
        def say(text):
            print(text, flush=True)

        """
}
