import CacheWire
import NIOCore

/// The hosts and types of the entries, for filters. It is kept for a while, because making it reads many entries. Used on
/// the event loop only.
final class Inventory {
    private struct Sum {
        var entries = 0
        var bytes = 0

        mutating func add(_ size: Int) {
            entries += 1
            bytes += size
        }
    }

    private let daemon: DaemonClient
    private var hosts: [String: Sum] = [:]
    private var types: [String: Sum] = [:]
    private var count = 0
    private var made: (at: NIODeadline, json: ByteBuffer)?
    private var waiting: [(Response) -> Void] = []

    /// The newest entries that are read, and for how long the result counts.
    private static let limit = 20_000
    private static let age = TimeAmount.seconds(20)
    /// Hosts with fewer entries are left out.
    private static let hostLimit = 500

    init(_ daemon: DaemonClient) {
        self.daemon = daemon
    }

    func answer(_ then: @escaping (Response) -> Void) {
        if let made, made.at + Self.age > .now() { return then(.json(made.json)) }
        waiting.append(then)
        guard waiting.count == 1 else { return }
        (hosts, types, count) = ([:], [:], 0)
        daemon.connect { [self] connection in
            guard let connection else { return finish(.failure(.away)) }
            read(connection, after: nil)
        }
    }

    private func read(_ connection: DaemonConnection, after: String?) {
        let parameters = Methods.List.Parameters(
            order: .age, after: after, reverse: true, originals: true)
        connection.call(Methods.List.self, parameters) { [self] result in
            do throws(CallFailure) {
                guard let page = try result.get().listedItems() else { throw .misunderstood }
                for item in page.items {
                    hosts[item.host, default: Sum()].add(item.size)
                    types[item.type, default: Sum()].add(item.size)
                }
                count += page.items.count
                if let after = page.after, count < Self.limit {
                    return read(connection, after: after)
                }
                connection.close()
                finish(page.after == nil)
            } catch {
                connection.close()
                finish(.failure(error))
            }
        }
    }

    private func finish(_ isWhole: Bool) {
        var json = JSONText()
        json.object { json in
            json.member("hosts", Self.sorted(hosts, as: "host"))
            json.member("types", Self.sorted(types, as: "type"))
            json.member("isWhole", isWhole)
        }
        let bytes = ByteBuffer(bytes: json.bytes)
        made = (.now(), bytes)
        finish(.json(bytes))
    }

    private func finish(_ response: Response) {
        let waiting = waiting
        self.waiting = []
        for then in waiting { then(response) }
    }

    private static func sorted(_ sums: [String: Sum], as name: String) -> [Row] {
        let most = sums.filter { !$0.key.isEmpty }.sorted { left, right in
            (right.value.entries, left.key) < (left.value.entries, right.key)
        }
        return most.prefix(hostLimit).map { sum in
            Row(name: name, text: sum.key, entries: sum.value.entries, bytes: sum.value.bytes)
        }
    }

    private struct Row: JSONWritable {
        let name: String
        let text: String
        let entries: Int
        let bytes: Int

        func write(to json: inout JSONText) {
            json.object { json in
                json.member(name, text)
                json.member("entries", entries)
                json.member("bytes", bytes)
            }
        }
    }
}
