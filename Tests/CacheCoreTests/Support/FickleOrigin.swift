import CacheSamples
import Synchronization
import TestSupport

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// An origin whose answers break off, and whose only image can change after the first request.
final class FickleOrigin: Sendable {
    enum Kind: CaseIterable {
        // The image stays the same.
        case sameTag, sameDate, weakTag, youngDate, noValidator
        case liesAboutFirst, liesAboutTotal, sendsLess
        // It changes.
        case newTag, newDate, newWithWeakTag, newWithYoungDate, newAndIgnoresRange
        case newAndIgnoresIfRange

        var changes: Bool { "\(self)".hasPrefix("new") }

        /// Whether a range request is correct.
        var isResumable: Bool {
            switch self {
            case .weakTag, .youngDate, .noValidator, .newWithWeakTag, .newWithYoungDate: false
            default: true
            }
        }

        /// Whether the origin should send only the rest.
        var isObedient: Bool { self == .sameTag || self == .sameDate }
    }

    let kind: Kind
    let first: [UInt8]
    let second: [UInt8]
    /// The number of bytes after which each answer breaks off. Answers beyond the list are
    /// complete.
    private let cuts: [Int]
    private let log = Mutex<[(from: Int?, sent: Int)]>([])

    init(_ kind: Kind, _ random: inout SeededGenerator) {
        self.kind = kind
        let count = Int.random(in: 1000...200_000, using: &random)
        first = SampleImage.png(byteCount: count, seed: 1)
        second = SampleImage.png(byteCount: count, seed: 2)
        cuts = (0..<Int.random(in: 1...3, using: &random)).map { _ in
            Int.random(in: 0..<count, using: &random)
        }
    }

    /// The image that the cache must have in the end.
    var image: [UInt8] { kind.changes ? second : first }

    /// The offset at which each request began (`nil` for the whole image), and the bytes sent to
    /// it.
    var answers: [(from: Int?, sent: Int)] { log.withLock { $0 } }

    func answer(_ request: OriginRequest) -> OriginScript {
        let number = answers.count
        let isNew = kind.changes && number > 0
        let body = isNew ? second : first
        var fields = validators(isNew: isNew)
        let from = isPartDue(request, isNew) ? request.firstOfRange : nil
        if let from { fields.append(("Content-Range", range(from, body.count))) }
        let payload = Array(body[(from ?? 0)...].prefix(length(from)))
        let isCut = number < cuts.count
        let sent = Array(payload.prefix(isCut ? cuts[number] : payload.count))
        log.withLock { $0.append((request.firstOfRange, sent.count)) }
        fields.append(("Content-Length", "\(payload.count)"))
        return [.head(from == nil ? 200 : 206, HeaderFields(fields)), .bytes(sent), .close]
    }

    private func isPartDue(_ request: OriginRequest, _ isNew: Bool) -> Bool {
        guard request.firstOfRange != nil, kind != .newAndIgnoresRange else { return false }
        return !isNew || kind == .newAndIgnoresIfRange
    }

    private func range(_ from: Int, _ total: Int) -> String {
        switch kind {
        case .liesAboutFirst: "bytes \(from + 1)-\(total - 1)/\(total)"
        case .liesAboutTotal: "bytes \(from)-\(total)/\(total + 1)"
        case .sendsLess: "bytes \(from)-\(from + length(from) - 1)/\(total)"
        default: "bytes \(from)-\(total - 1)/\(total)"
        }
    }

    private func length(_ from: Int?) -> Int {
        guard kind == .sendsLess, let from else { return .max }
        return (first.count - from + 1) / 2
    }

    private func validators(isNew: Bool) -> [(name: String, value: String)] {
        let day = ("Date", Sample.date(0))
        switch kind {
        case .noValidator: return []
        case .weakTag, .newWithWeakTag: return [("ETag", "W/\"1\"")]
        case .youngDate, .newWithYoungDate: return [("Last-Modified", Sample.date(0)), day]
        case .sameDate, .newDate: return [("Last-Modified", Sample.date(isNew ? -9 : -99)), day]
        default: return [("ETag", isNew ? "\"2\"" : "\"1\"")]
        }
    }
}
