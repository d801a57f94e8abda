import CacheKey
import CacheWire
import Foundation
import Glibc
import TestSupport

/// A daemon whose system calls are made to fail, an origin with images under any number of URLs, and the
/// conditions that must hold afterwards.
struct FaultyDaemon: Sendable {
    let daemon: DaemonFixture
    let origin: ScriptedOrigin

    /// The images of the origin.
    private static let images = (0..<3).map { number in
        SampleImage.png(byteCount: 5000 + number * 60_000, seed: number)
    }

    init(_ daemon: DaemonFixture, _ origin: ScriptedOrigin) {
        self.daemon = daemon
        self.origin = origin
    }

    /// An origin that serves those images, about half of them with bytes of their own for each query.
    static func origin(in scope: TestScope) throws -> ScriptedOrigin {
        let origin = try ScriptedOrigin(in: scope)
        for number in images.indices {
            origin.route("/\(number).png") { request in
                // Each download opens a new connection.
                var script = OriginScript.answer(
                    headers: ["ETag": "\"1\"", "Connection": "close"], body: image(request.target))
                script.steps.append(.close)
                return script
            }
        }
        return origin
    }

    /// The image of a target: one of three that many URLs share, or one that only this target has.
    private static func image(_ target: String) -> [UInt8] {
        let number = target.first(where: \.isNumber)?.wholeNumberValue ?? 0
        let digest = target.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFF_FFFF }
        guard digest % 2 == 1 else { return images[number] }
        return SampleImage.png(byteCount: images[number].count, seed: digest << 8)
    }

    /// New URLs of the images, `copies` for each.
    func urls(_ name: String, copies: Int = 1) -> [String] {
        (0..<copies).flatMap { copy in
            Self.images.indices.map { origin.url("/\($0).png?\(name).\(copy)") }
        }
    }

    // MARK: Calls

    /// Makes a call over a new connection.
    func call<M: Method>(
        _ method: M.Type, _ parameters: M.Parameters
    ) async throws -> M.Reply {
        try await withTestScope { scope in
            let connection = try VarlinkConnection(daemon.socket, in: scope)
            try await connection.send(Message.encode(Call(M.name, parameters: parameters)))
            guard let answer = try await connection.receive() else {
                throw TestFailure("no answer to \(M.name.rawValue): \(daemon.log)")
            }
            let reply: Reply<M.Reply> = try Message.decode(from: answer)
            guard let parameters = reply.parameters else {
                throw TestFailure("\(M.name.rawValue) failed: \(String(describing: reply.error))")
            }
            return parameters
        }
    }

    func fetch(_ urls: [String], refresh: Bool? = nil) async throws -> [Item] {
        try await call(Methods.Fetch.self, .init(urls: urls, refresh: refresh)).items
    }

    /// Does something while another client calls `Status` ten times a second, and is always answered.
    ///
    /// These calls also wake the event loop: strace(1) cannot distinguish files from the counter that wakes it, and
    /// eventfd(2) never really fails that way, so an injected fault can lose a wake-up.
    func withOtherRequests<Result: Sendable>(
        for urls: [String], _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                while !Task.isCancelled {
                    try await status(urls)
                    try? await Task.sleep(for: .milliseconds(100))
                }
                return nil
            }
            defer { group.cancelAll() }
            guard let result = try await group.next().flatMap(\.self) else {
                throw CancellationError()
            }
            return result
        }
    }

    /// Calls `Status`, which must answer within a second.
    @discardableResult
    func status(_ urls: [String]) async throws -> [Item] {
        let watch = Stopwatch()
        let items = try await call(Methods.Status.self, .init(urls: urls)).items
        let time = watch.time
        guard time < .seconds(1) else { throw TestFailure("a status call took \(time)") }
        return items
    }

    func metric(_ name: String) async throws -> Int {
        let stats = try await call(Methods.Stats.self, .init()).stats
        guard case .int(let number)? = stats[name] else {
            throw TestFailure("Stats has no integer named \(name)")
        }
        return number
    }

    // MARK: Conditions that must hold

    /// The statistics agree with the disk.
    func expectLedgerMatchesDisk() async throws {
        var difference = ""
        do {
            try await waitUntil("the statistics to agree with the disk") {
                let usage = try DirectoryUsage(of: daemon.directory)
                let (bytes, entries) = try await (metric("bytesUsed"), metric("entries"))
                difference = "\(bytes) bytes and \(entries) entries are counted, \(usage) is there"
                return bytes == usage.bytes && entries == usage.entries
            }
        } catch {
            throw TestFailure("\(error): \(difference)")
        }
    }

    /// Each URL has a complete image that is an entry, except for at most `evicted` of them.
    func expectWhole(_ urls: [String], butFor evicted: Int = 0) async throws {
        var gone = 0
        for item in try await call(Methods.Status.self, .init(urls: urls)).items {
            let path = "\(daemon.directory)/\(CacheKey(try CacheURL(item.url)))"
            guard access(path, F_OK) == 0 else {
                gone += 1
                guard gone <= evicted else { throw TestFailure("\(item.url) is gone") }
                continue
            }
            guard item.state == .cached else { throw TestFailure("\(path) is not an entry") }
            let target = "/" + (item.url.split(separator: "/").last ?? "")
            guard try contents(of: path) == Self.image(target) else {
                throw TestFailure("\(path) differs from the origin's image")
            }
        }
    }

    /// Every warning and error in the log names the directory and says what to do or what happens next.
    func expectHelpfulLog() throws {
        for line in daemon.log.split(separator: "\n")
        where line.contains(" warning: ") || line.contains(" error: ") {
            guard line.contains(daemon.directory) || line.contains("cannot accept clients"),
                line.contains("remedy=") || line.contains(";")
            else { throw TestFailure("the message does not help: \(line)") }
        }
    }

    /// Waits for a thread of the daemon whose name has this prefix. proc(5), `comm`
    func thread(_ name: String) async throws -> Int32 {
        try await eventually("the thread \(name)") { try daemon.process.thread(named: name) }
    }
}
