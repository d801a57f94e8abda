import CacheWire
import NIOCore

/// One page in one tab: its event stream, the images on its screen, and its list. Used on the event loop only.
final class View {
    private let daemon: DaemonClient
    private(set) var events: EventStream?
    /// Called when the page has gone.
    var onEnd: (() -> Void)?
    /// The URLs on the screen.
    private var visible: [String] = []
    /// The connection whose `Watch` reports them.
    private var watch: DaemonConnection?
    private var isConnecting = false
    private var entries: EntryList?
    /// The number of the list. The page distinguishes lists by it.
    private var listNumber = 0
    private var end: Scheduled<Void>?
    private var isStale = false

    /// The greatest number of views, and of images that one can watch.
    static let limit = 32
    static let visibleLimit = 1000
    /// The time that a page has to open its event stream, again after it was lost.
    private static let patience = TimeAmount.seconds(10)

    init(_ daemon: DaemonClient) {
        self.daemon = daemon
        waitForStream()
    }

    static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    // MARK: The stream

    /// Gives the view its stream. Another one that it has ends.
    func attach(_ stream: EventStream) {
        events?.onEnd = nil
        events?.close()
        events = stream
        end?.cancel()
        stream.onEnd = { [weak self, weak stream] in
            guard let self, events === stream else { return }
            events = nil
            watch?.close()
            watch = nil
            waitForStream()
        }
    }

    private func waitForStream() {
        end?.cancel()
        end = daemon.loop.assumeIsolated().scheduleTask(in: Self.patience) { [weak self] in
            self?.entries?.close()
            self?.onEnd?()
        }
    }

    /// Sends the stream the current state first, then the messages that were kept while there was no stream.
    func greet() {
        sendState()
        showVisible()
        if let entries { sendGrowth(of: entries) }
        if isStale { events?.send("stale") { _ in } }
    }

    func daemonChanged() {
        sendState()
        if daemon.place != nil { showVisible() }
    }

    private func sendState() {
        events?.send("state") { json in
            json.member("daemon", daemon.place != nil)
            json.member("version", daemon.place?.version)
            json.member("directory", daemon.place?.directory)
            json.member("message", daemon.place == nil ? CallFailure.away.message : nil)
        }
    }

    // MARK: The images on the screen

    /// Watches these images from now on, and no others.
    func show(_ urls: [String]) {
        guard urls != visible else { return }
        visible = urls
        showVisible()
    }

    private func showVisible() {
        guard events != nil, daemon.place != nil else { return }
        if let watch { return send(to: watch) }
        guard !visible.isEmpty, !isConnecting else { return }
        isConnecting = true
        daemon.connect { [weak self] connection in
            guard let self else { return connection?.close() ?? () }
            isConnecting = false
            guard let connection, events != nil else { return connection?.close() ?? () }
            watch = connection
            connection.onEnd = { [weak self, weak connection] in
                if self?.watch === connection { self?.watch = nil }
            }
            send(to: connection)
        }
    }

    /// The new set takes over from the old one without a gap.
    private func send(to connection: DaemonConnection) {
        connection.call(Methods.Watch.self, .init(urls: visible), more: true) {
            [weak self] result in
            guard case .success(let reply) = result, reply.continues else { return }
            self?.events?.send("items", reply.parameters)
        }
    }

    // MARK: The list

    /// Makes the list anew, and answers with its beginning.
    func list(_ query: ListQuery, _ then: @escaping (Response) -> Void) {
        entries?.close()
        listNumber += 1
        let list = EntryList(query, daemon, number: listNumber)
        entries = list
        isStale = false
        list.onGrowth = { [weak self, weak list] in
            guard let self, let list, entries === list else { return }
            sendGrowth(of: list)
        }
        list.begin(then)
    }

    private func sendGrowth(of list: EntryList) {
        events?.send("list") { json in
            json.member("list", list.number)
            json.member("total", list.count)
            json.member("isWhole", list.isWhole)
        }
    }

    func items(_ range: Range<Int>, _ then: @escaping (Response) -> Void) {
        guard let entries else { return then(.failure(.noList)) }
        entries.items(range, then)
    }

    /// An entry has come or gone.
    func setChanged() {
        guard entries != nil, !isStale else { return }
        isStale = true
        events?.send("stale") { _ in }
    }
}

extension CallFailure {
    fileprivate static let noList = CallFailure(message: "the list has ended; ask for it again")
}
