import CacheWire
import Glibc
import Synchronization
import TestSupport
import Testing

/// Other clients are answered as usual, however many clients connect and leave calls unfinished.
@Suite("Crowds", .serialized, .timeLimit(.minutes(isLongForm ? 20 : 10)))
struct ManyClientsTests {
    private static let idle = isLongForm ? 10_000 : 500
    private static let others = isLongForm ? 1000 : 20

    /// A call whose reply has about 100 kB.
    private static let largeCall = {
        let path = String(repeating: "x", count: 150)
        let urls = (0..<300).map { "\"http://a.example/\($0)/\(path)\"" }
        return #"{"method":"io.cached.Cache.Status","parameters":{"urls":["#
            + urls.joined(separator: ",") + "]}}"
    }()

    @Test(.disabled(if: isSanitized, "a sanitizer multiplies latencies"))
    func idleAndStuckClientsDoNotDelayOthers() async throws {
        let promise = Promise(
            "idle, stuck and half-finished clients delay no other client's status")
        try await promise.test { figures in
            try await withTestScope { scope in
                let room = try DescriptorLimit.raised()
                try #require(
                    room > Self.idle + 2 * Self.others + 1000, "the open file limit is too low")
                let daemon = try await DaemonFixture.start(in: scope)
                let quiet = try await latency(of: daemon)
                let before = try ProcessUsage(of: daemon.process.pid)
                let idle = try await ConnectionGroup(of: Self.idle, at: daemon.socket, in: scope)
                try await idle.sendAll("")
                let stuck = try await ConnectionGroup(of: Self.others, at: daemon.socket, in: scope)
                // More replies than the daemon prepares for a client that does not read them.
                try await stuck.sendAll(String(repeating: Self.largeCall + "\0", count: 12))
                let halves = try await ConnectionGroup(
                    of: Self.others, at: daemon.socket, in: scope)
                try await halves.sendAll(String(Self.largeCall.dropLast(20)))
                try await settle(daemon)
                let crowded = try await latency(of: daemon)
                let after = try ProcessUsage(of: daemon.process.pid)
                figures += [
                    "\(idle.count) idle, \(stuck.count) not reading, \(halves.count) incomplete",
                    "p99 \(quiet) before, \(crowded) with them",
                    "\((after.anonymousBytes - before.anonymousBytes) >> 20) MiB for all of them",
                ]
                // If other programs keep the machine busy, the quiet measurement was slow too.
                #expect(crowded < max(.milliseconds(10), quiet * 4))
                let answers = try await stuck.receiveAll()
                #expect(answers.allSatisfy { $0.hasPrefix(#"{"parameters":{"items":["#) })
            }
        }
    }

    @Test(.disabled(if: isSanitized, "a sanitizer multiplies latencies"))
    func longAndInvalidCallsDoNotDelayOthers() async throws {
        let promise = Promise("calls of megabytes, valid or not, delay no other client's status")
        try await promise.test { figures in
            try await withTestScope { scope in
                let daemon = try await DaemonFixture.start(in: scope)
                let quiet = try await latency(of: daemon)
                let sender = LongCallSender(socket: daemon.socket)
                async let sent = sender.run()
                let busy = try await latency(of: daemon)
                sender.stop()
                figures += [
                    "\(try await sent) calls", "p99 \(quiet) before, \(busy) with them",
                ]
                #expect(busy < max(.milliseconds(10), quiet * 4))
            }
        }
    }

    @Test(.disabled(if: isSanitized, "a sanitizer needs more memory"))
    func incompleteMessagesShareAMemoryLimit() async throws {
        let promise = Promise("incomplete messages of a user take at most 256 MiB")
        try await promise.test { figures in
            try await withTestScope { scope in
                let daemon = try await DaemonFixture.start(in: scope)
                let before = try ProcessUsage(of: daemon.process.pid).anonymousBytes
                // 15 MiB each; the short form sends 1.5 times what the daemon keeps.
                let half = [UInt8](repeating: UInt8(ascii: "["), count: 15 << 20)
                var senders: [VarlinkConnection] = []
                var most = 0
                for _ in 0..<(isLongForm ? 200 : 26) {
                    senders.append(try daemon.connect())
                    try await senders.last?.send(half)
                    most = max(most, try ProcessUsage(of: daemon.process.pid).anonymousBytes)
                }
                // The connection that has waited longest gets an error and is closed.
                let answer = try await senders[0].receiveText()
                #expect(answer.contains("io.cached.Cache.InvalidMessage"), "\(answer)")
                #expect(answer.contains("the daemon holds 256 MiB for this user"), "\(answer)")
                try await senders[0].waitForClose()
                // A client that continues its message is answered, even the last one.
                for sender in [senders[senders.count - 1], try daemon.connect()] {
                    let rest = String(repeating: "]", count: 1 << 19)
                    #expect(try await sender.call(rest).contains("InvalidMessage"))
                }
                figures += [
                    "\(senders.count) of 15 MiB", "\((most - before) >> 20) MiB for all of them",
                ]
                // A growing buffer has up to twice the capacity it needs.
                #expect(most - before < 640 << 20)
            }
        }
    }

    /// The 99th percentile of the latency of status calls, the worst of four concurrent clients.
    private func latency(of daemon: DaemonFixture) async throws -> Duration {
        let urls = (0..<100).map { "http://a.example/\($0).png" }
        return try await withThrowingTaskGroup(of: Duration.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await daemon.p99Latency(of: urls, .missing) { _, count in
                        count >= (isLongForm ? 5000 : 500)
                    }
                }
            }
            return try await group.reduce(.zero, max)
        }
    }

    @Test func withoutFreeDescriptorsTheDaemonWaitsInsteadOfSpinning() async throws {
        let promise = Promise("when descriptors run out, clients wait and the daemon sleeps")
        try await promise.test { figures in
            try await withTestScope { scope in
                let origin = try ScriptedOrigin(in: scope)
                origin.route("/a.png", .answer(body: SampleImage.png()))
                let home = try TemporaryDirectory(in: scope)
                let socket = home.file("s")
                let process = try ChildProcess(
                    "prlimit",
                    [
                        "--nofile=128", "--", BuiltProducts.program("cached"),
                        "--directory", home.file("cache"), "--socket", socket,
                        "--allow-network", "127.0.0.0/8",
                    ],
                    environment: minimalEnvironment(["MEMORY_PRESSURE_WATCH": "/dev/null"]),
                    in: scope)
                try await process.waitForSocket(socket)
                let first = try VarlinkConnection(socket, in: scope)
                try await withTestScope { inner in
                    // The socket's queue takes all of them; the last ones stay there.
                    let group = try await ConnectionGroup(of: 100, at: socket, in: inner)
                    try await process.waitForLine(containing: "too many connections")
                    let spent = try await processorTime(of: process.pid, over: .seconds(1))
                    figures.append(
                        "\(spent) of processor time in a second with \(group.count) waiting")
                    #expect(spent < .milliseconds(100))
                    // The cache itself still has the descriptors it needs.
                    let url = origin.url("/a.png")
                    let fetch =
                        #"{"method":"io.cached.Cache.Fetch","parameters":{"urls":["\#(url)"]}}"#
                    let answer = try await first.call(fetch)
                    #expect(answer.contains(#""state":"cached""#), "\(answer)")
                    let urls = (0..<300).map { origin.url("/a.png?\($0)") }
                    let items = try await first.call(
                        #"{"method":"io.cached.Cache.Fetch","parameters":{"urls":\#(urls)}}"#)
                    #expect(items.split(separator: #""state":"cached""#).count == urls.count + 1)
                }
                let last = try await offPool {
                    try Client(paths: [socket]).call(
                        Methods.Status.self, .init(urls: [origin.url("/a.png")]))
                }
                #expect(last.items.first?.state == .cached)
                process.signal(SIGTERM)
                #expect(try await process.waitForExit() == .success)
            }
        }
    }

    /// With the lowest descriptor limit that the daemon accepts, downloads still get descriptors, however
    /// many clients connect.
    @Test func downloadsContinueWithTheFewestDescriptors() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png(byteCount: 200_000)))
            let home = try TemporaryDirectory(in: scope)
            let socket = home.file("s")
            let process = try ChildProcess(
                "prlimit",
                [
                    "--nofile=64", "--", BuiltProducts.program("cached"), "--directory",
                    home.file("cache"), "--socket", socket, "--allow-network", "127.0.0.0/8",
                ],
                environment: minimalEnvironment(["MEMORY_PRESSURE_WATCH": "/dev/null"]), in: scope)
            try await process.waitForSocket(socket)
            let first = try VarlinkConnection(socket, in: scope)
            let group = try await ConnectionGroup(of: 150, at: socket, in: scope)
            try await process.waitForLine(containing: "too many connections")
            // Different hosts, so that no connection can be reused.
            let urls = (0..<50).map { "http://h\($0).localhost:\(origin.port)/a.png" }
            let answer = try await first.call(
                #"{"method":"io.cached.Cache.Fetch","parameters":{"urls":\#(urls)}}"#)
            #expect(
                answer.split(separator: #""state":"cached""#).count == urls.count + 1,
                "with \(group.count) waiting: \(answer)")
        }
    }

    /// Simulates other programs using up all descriptors of the machine: accept(2) itself fails.
    /// prlimit(2)
    @Test func whenAcceptFailsTheDaemonWaitsInsteadOfSpinning() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let question = #"{"method":"io.cached.Cache.Status","parameters":{"urls":[]}}"#
            let first = try daemon.connect()
            // The answer shows that the daemon has accepted the client.
            #expect(try await first.call(question).contains("items"))
            try await setDescriptorLimit(1, of: daemon)
            let group = try await ConnectionGroup(of: 20, at: daemon.socket, in: scope)
            try await daemon.process.waitForLine(containing: "cannot accept clients")
            let spent = try await processorTime(of: daemon.process.pid, over: .seconds(1))
            #expect(spent < .milliseconds(100), "with \(group.count) waiting")
            #expect(try await first.call(question).contains("items"))
            try await setDescriptorLimit(1024, of: daemon)
            #expect(try await daemon.connect().call(question).contains("items"))
        }
    }

    private func setDescriptorLimit(_ limit: Int, of daemon: DaemonFixture) async throws {
        try await runSuccessfully(
            "prlimit", ["--pid", "\(daemon.process.pid)", "--nofile=\(limit):"])
    }

    /// Waits until the daemon has read all that it is willing to read.
    private func settle(_ daemon: DaemonFixture) async throws {
        try await waitUntil("the daemon to have nothing to do") {
            try await processorTime(of: daemon.process.pid, over: .milliseconds(200))
                < .milliseconds(20)
        }
    }

    /// The processor time a process uses in an interval in which no client calls it.
    private func processorTime(of process: Int32, over time: Duration) async throws -> Duration {
        let before = try ProcessUsage(of: process).processorTime
        try await Task.sleep(for: time)
        return try ProcessUsage(of: process).processorTime - before
    }
}

/// A client that sends long calls one after the other, valid and invalid ones.
private final class LongCallSender: Sendable {
    private let socket: String
    private let isStopped = Atomic(false)

    private static let calls: [[UInt8]] = {
        let urls = (0..<60_000).map {
            "\"http://a.example/\($0)/\(String(repeating: "x", count: 60))\""
        }
        let list = "\"urls\":[\(urls.joined(separator: ","))]"
        let calls = [
            ("Fetch", list + ",\"sha256\":\"none\""), ("Fetch", list + ",\"priority\":7"),
            ("Status", list + ",\"details\":true"), ("Watch", list), ("Remove", list),
            ("Pin", list + ",\"pinned\":true"), ("Remove", list + ",\"all\":true"), ("None", list),
            ("Status", list + "}"),
        ]
        return calls.map { name, parameters in
            Array("{\"method\":\"io.cached.Cache.\(name)\",\"parameters\":{\(parameters)}}\0".utf8)
        }
    }()

    init(socket: String) {
        self.socket = socket
    }

    /// Runs until it is stopped, but sends each call at least once. Returns the number of calls.
    func run() async throws -> Int {
        try await offPool {
            var count = 0
            while count < Self.calls.count || !self.isStopped.load(ordering: .relaxed) {
                let exchange = try Exchange(
                    with: self.socket, sending: [Self.calls[count % Self.calls.count]])
                guard !exchange.messages.isEmpty else {
                    throw TestFailure("call \(count) got no reply")
                }
                count += 1
            }
            return count
        }
    }

    func stop() {
        isStopped.store(true, ordering: .relaxed)
    }
}
