import CacheCore
import CacheFetching
import CacheKey
import CacheValues
import CacheWire
import NIOCore

/// `History`: what happened lately, to some images or to all, and samples of the figures.
struct HistoryMethod: Sendable {
    private let parameters: Methods.History.Parameters
    private let limit: Int

    /// The events that are returned unless the call says otherwise.
    private static let usual = 1000

    init(_ parameters: Methods.History.Parameters) throws(WireError) {
        let limit = parameters.limit ?? Self.usual
        guard limit > 0 else {
            throw .invalidParameter(parameter: "limit", reason: "it must be greater than 0")
        }
        guard parameters.since ?? 0 >= 0 else {
            throw .invalidParameter(parameter: "since", reason: "it must not be less than 0")
        }
        (self.parameters, self.limit) = (parameters, limit)
    }

    /// Reads the file of the history.
    func writeReply(from server: ServerContext, to output: inout ByteBuffer) {
        let named = parameters.urls?.map { server.named($0) }.byKey
        let kinds = parameters.kinds.map { kinds in
            Set(kinds.compactMap { CacheFetching.HistoryEvent.Kind(rawValue: $0.rawValue) })
        }
        let query = HistoryQuery(
            keys: named.map { Set($0.keys) }, kinds: kinds,
            since: parameters.since.map { UnixTime(clamping: Int64($0)) }, limit: limit)
        let events = server.cache.events(query).map { event in
            CacheWire.HistoryEvent(event, url: named?[event.key] ?? event.url)
        }
        let samples =
            parameters.samples == true
            ? HistorySamples(server.cache.samples()) : nil
        server.replies.write(
            Reply(Methods.History.Reply(events: events, samples: samples)), to: &output)
    }
}

extension CacheWire.HistoryEvent {
    fileprivate init(_ event: CacheFetching.HistoryEvent, url: String?) {
        self.init(
            at: Int(event.at.rawValue), kind: HistoryKind(event.kind),
            key: event.key.description, url: url ?? "", bytes: event.bytes.map { Int($0) },
            reason: event.reason.flatMap { HistoryReason(rawValue: $0.rawValue) },
            user: event.user.map { Int($0.rawValue) },
            failure: event.failure.map { failure in
                CacheWire.Failure(
                    kind: failure.kind.rawValue, message: failure.message,
                    httpStatus: failure.httpStatus,
                    retryAt: failure.retryAt.map { Int($0.rawValue) })
            })
    }
}

extension HistoryKind {
    fileprivate init(_ kind: CacheFetching.HistoryEvent.Kind) {
        self =
            switch kind {
            case .fetched: .fetched
            case .confirmed: .confirmed
            case .derived: .derived
            case .failed: .failed
            case .evicted: .evicted
            case .removed: .removed
            case .damaged: .damaged
            }
    }
}

extension HistorySamples {
    fileprivate init(_ samples: [HistorySample]) {
        var figures: [String: [Int]] = [:]
        for (place, name) in HistorySample.names.enumerated() {
            figures[name] = samples.map { $0.figures[place] }
        }
        self.init(at: samples.map { Int($0.at.rawValue) }, figures: figures)
    }
}
