import CacheWire
import Glibc
import NIOCore

/// The part that all pages show: the figures of the daemon and its downloads. It asks only while a page is open. Used on
/// the event loop only.
final class Figures {
    private let daemon: DaemonClient
    /// Gets each event for all pages.
    var onEvent: ((_ event: String, _ data: ByteBuffer) -> Void)?
    /// Called when entries have come or gone.
    var onChangedSet: (() -> Void)?
    private var timer: Scheduled<Void>?
    /// Whether the daemon has not answered the last question yet, and whether the pages know that.
    private var isAsking = false
    private var isLate = false
    private var watch: DaemonConnection?
    private var lastSet: [Int] = []
    /// What had ended badly at the last look, and when that was.
    private var ends: [Int] = []
    private var lookedAt = 0
    /// The number of entries at the last look.
    private(set) var entries = 0

    private static let interval = TimeAmount.seconds(1)
    /// The time after which a daemon that does not answer is reported.
    private static let patience = TimeAmount.milliseconds(900)

    init(_ daemon: DaemonClient) {
        self.daemon = daemon
    }

    /// Whether a page is open.
    var isWatched = false {
        didSet {
            guard isWatched != oldValue else { return }
            timer?.cancel()
            timer = nil
            watch?.close()
            watch = nil
            guard isWatched else { return }
            startTimer()
            watchDownloads()
        }
    }

    func daemonChanged() {
        ends = []
        (isAsking, isLate) = (false, false)
        guard isWatched, daemon.place != nil else { return }
        look()
        watchDownloads()
    }

    /// Sends a new page what the others know.
    func greet(_ stream: EventStream) {
        stats { if let json = $0 { stream.send("stats", json) } }
        daemon.callAlone(Methods.List.self, .init(state: .inFlight)) { result in
            guard case .success(let reply) = result else { return }
            stream.send("downloads", reply.parameters)
        }
        // Of another person's shared daemon there is neither.
        daemon.callAlone(Methods.List.self, .init(state: .failed)) { result in
            guard case .success(let reply) = result else { return }
            stream.send("failures", reply.parameters)
        }
        daemon.callAlone(Methods.History.self, .init(kinds: Self.kinds, samples: true)) { result in
            guard case .success(let reply) = result else { return }
            stream.send("history", reply.parameters)
        }
    }

    // MARK: Figures

    private func startTimer() {
        timer = daemon.loop.assumeIsolated().scheduleTask(in: Self.interval) { [weak self] in
            self?.look()
            self?.startTimer()
        }
    }

    private func look() {
        guard !isAsking, daemon.place != nil else { return }
        isAsking = true
        let late = daemon.loop.assumeIsolated().scheduleTask(in: Self.patience) { [weak self] in
            self?.report(isLate: true)
        }
        stats { [weak self] json in
            late.cancel()
            self?.isAsking = false
            self?.report(isLate: false)
            if let json { self?.onEvent?("stats", json) }
        }
    }

    /// Reports that the daemon is there and does not answer, or answers again.
    private func report(isLate: Bool) {
        guard isLate != self.isLate, daemon.place != nil else { return }
        self.isLate = isLate
        var json = JSONText()
        json.object { json in
            json.member("daemon", true)
            json.member("message", isLate ? Self.late : nil)
        }
        onEvent?("state", ByteBuffer(bytes: json.bytes))
    }

    private static let late = "The daemon runs, and does not answer. The page shows an older state."

    /// Asks for the figures; `nil` if there are none.
    private func stats(_ then: @escaping (ByteBuffer?) -> Void) {
        daemon.call(Methods.Stats.self, NoParameters()) { [weak self] result in
            guard let self, case .success(let reply) = result,
                let stats: Stats = try? reply.decoded()
            else { return then(nil) }
            takeEnds(stats.stats)
            takeSet(stats.stats)
            var json = reply.parameters
            json.moveWriterIndex(to: json.writerIndex - 1)
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            json.writeString(",\"at\":\(time.tv_sec * 1000 + time.tv_nsec / 1_000_000)")
            if let free = Self.freeBytes(daemon.place?.directory) {
                json.writeString(",\"bytesFree\":\(free)")
            }
            json.writeString("}")
            then(json)
        }
    }

    private struct Stats: Decodable {
        let stats: [String: JSONValue]
    }

    /// Reports if entries have come or gone since the last look.
    private func takeSet(_ stats: [String: JSONValue]) {
        func figure(_ name: String) -> Int { Self.figure(name, stats) }
        entries = figure("entries")
        // Derived images are not in the lists of pages.
        let derived = figure("derived")
        let set =
            [entries - derived, figure("published") - derived]
            + ["removed", "evicted", "withdrawn"].map(figure)
        defer { lastSet = set }
        if set != lastSet, !lastSet.isEmpty { onChangedSet?() }
    }

    private static func figure(_ name: String, _ stats: [String: JSONValue]) -> Int {
        if case .int(let value)? = stats[name] { value } else { 0 }
    }

    /// The bytes that users other than root can still write on the file system of a directory. statvfs(3).
    private static func freeBytes(_ directory: String?) -> UInt? {
        var status = statvfs()
        guard let directory, statvfs(directory, &status) == 0 else { return nil }
        return status.f_bavail * status.f_frsize
    }

    // MARK: History

    private static let kinds = [HistoryKind.failed, .evicted, .removed, .damaged]

    /// Asks what happened if images have gone or downloads have failed since the last look.
    private func takeEnds(_ stats: [String: JSONValue]) {
        let counts = ["failed", "evicted", "removed", "withdrawn", "damaged"]
            .map { Self.figure($0, stats) }
        let hasNews = counts != ends || Self.figure("entries", stats) < entries
        let since = lookedAt
        defer { (ends, lookedAt) = (counts, time(nil)) }
        guard hasNews, !ends.isEmpty else { return }
        // The file of the history is a moment behind the figures.
        let call = Methods.History.Parameters(kinds: Self.kinds, since: max(since - 2, 0))
        daemon.call(Methods.History.self, call) { [weak self] result in
            guard case .success(let reply) = result else { return }
            self?.onEvent?("history", reply.parameters)
        }
    }

    // MARK: Downloads

    private func watchDownloads() {
        guard watch == nil, daemon.place != nil else { return }
        daemon.connect { [weak self] connection in
            guard let self, isWatched, watch == nil else { return connection?.close() ?? () }
            watch = connection
            connection?.onEnd = { [weak self] in self?.watch = nil }
            connection?.call(Methods.Watch.self, .init(downloads: true), more: true) {
                [weak self] result in
                guard case .success(let reply) = result else { return }
                self?.onEvent?("downloads", reply.parameters)
            }
        }
    }
}
