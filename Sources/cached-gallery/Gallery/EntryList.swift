import CacheWire
import ClientCore
import NIOCore

/// The keys of a list of entries, as they were when it was made, so that a page can go to any place of it. Used on the
/// event loop only.
final class EntryList {
    private let query: ListQuery
    private let daemon: DaemonClient
    let number: Int
    private var connection: DaemonConnection?
    /// The keys, each of 36 characters.
    private var keys: [UInt8] = []
    /// The keys of each host, while they are read.
    private var byHost: [String: [UInt8]] = [:]
    private(set) var isWhole = false
    /// Called when there are more keys, or the last ones.
    var onGrowth: (() -> Void)?
    /// Requests for places that are not known yet.
    private var waiting: [() -> Void] = []

    /// Keys that one call asks for. The first one is short, so that the next screens are known soon.
    private static let stretch = (first: 1000, later: 100_000)
    /// The time that the page has to show the first items, before the keys of a long list are read.
    private static let firstScreen = TimeAmount.milliseconds(250)

    init(_ query: ListQuery, _ daemon: DaemonClient, number: Int) {
        self.query = query
        self.number = number
        self.daemon = daemon
    }

    /// The number of keys so far.
    var count: Int { keys.count / ImageName.length }

    func close() {
        connection?.close()
        connection = nil
        onGrowth = nil
        release()
    }

    // MARK: Making

    /// Answers with the first items, and goes on with the keys of all.
    func begin(_ then: @escaping (Response) -> Void) {
        daemon.connect { [self] connection in
            guard let connection else { return then(.failure(.away)) }
            self.connection = connection
            var parameters = query.parameters
            parameters.limit = query.first
            if query.isByHost {
                return beginByHost(then)
            }
            connection.call(Methods.List.self, parameters) { [self] result in
                do throws(CallFailure) {
                    then(.json(beginning(of: try result.get())))
                } catch {
                    then(.failure(error))
                }
                daemon.loop.assumeIsolated().scheduleTask(in: Self.firstScreen) { [weak self] in
                    self?.read(after: nil)
                }
            }
        }
    }

    /// The first items are known when all hosts are.
    private func beginByHost(_ then: @escaping (Response) -> Void) {
        readByHost(after: nil)
        waiting.append { [self] in answer(0..<query.first, then) }
    }

    private func beginning(of reply: DaemonReply) -> ByteBuffer {
        var json = reply.parameters
        json.moveWriterIndex(to: json.writerIndex - 1)
        json.writeString(
            ",\"list\":\(number),\"total\":\(count),\"isWhole\":\(isWhole)}")
        return json
    }

    private func read(after: String?) {
        if query.isByHost { return readByHost(after: after) }
        var parameters = query.parameters
        parameters.limit = after == nil ? Self.stretch.first : Self.stretch.later
        parameters.after = after
        parameters.keysOnly = true
        connection?.call(Methods.List.self, parameters) { [weak self] result in
            guard let self, connection != nil else { return }
            guard case .success(let reply) = result else { return end() }
            take(reply)
        }
    }

    private func take(_ reply: DaemonReply) {
        var after: String?
        let isRead = reply.parameters.withUnsafeReadableBytes { bytes in
            var scanner = JSONScanner(bytes)
            return scanner.members { name, scanner in
                if scanner.matches(name, "keys") { return takeKeys(&scanner) }
                guard scanner.matches(name, "after") else { return scanner.skip() }
                after = scanner.text()
                return after != nil
            }
        }
        if isRead, let after { read(after: after) } else { end() }
        onGrowth?()
        release()
    }

    private func takeKeys(_ scanner: inout JSONScanner) -> Bool {
        scanner.elements { scanner in
            guard let key = scanner.plainString(), key.count == ImageName.length else {
                return false
            }
            keys += scanner[key]
            return true
        }
    }

    /// Reads whole items for the sake of their hosts. The keys are in order once all are there.
    private func readByHost(after: String?) {
        var parameters = query.parameters
        parameters.after = after
        connection?.call(Methods.List.self, parameters) { [weak self] result in
            guard let self, connection != nil else { return }
            let page = (try? result.get())?.listedItems()
            for item in page?.items ?? [] { byHost[item.host, default: []] += item.key }
            if let after = page?.after { return readByHost(after: after) }
            keys = byHost.sorted { $0.key < $1.key }.flatMap(\.value)
            byHost = [:]
            end()
            onGrowth?()
        }
    }

    private func end() {
        isWhole = true
        connection?.close()
        connection = nil
        release()
    }

    private func release() {
        let waiting = waiting
        self.waiting = []
        for go in waiting { go() }
    }

    // MARK: Items

    /// Answers with the items at some positions, once they are known.
    func items(_ range: Range<Int>, _ then: @escaping (Response) -> Void) {
        guard count >= range.upperBound || isWhole else {
            return waiting.append { [self] in answer(range, then) }
        }
        answer(range, then)
    }

    private func answer(_ range: Range<Int>, _ then: @escaping (Response) -> Void) {
        let positions = range.clamped(to: 0..<count)
        let names = positions.map { position in
            let start = position * ImageName.length
            return String(decoding: keys[start..<(start + ImageName.length)], as: UTF8.self)
        }
        daemon.call(Methods.Status.self, .init(urls: [], details: true, keys: names)) {
            [self] result in
            do throws(CallFailure) {
                var json = beginning(of: try result.get())
                json.moveWriterIndex(to: json.writerIndex - 1)
                json.writeString(",\"from\":\(positions.lowerBound)}")
                then(.json(json))
            } catch {
                then(.failure(error))
            }
        }
    }
}
