/// An interrupted download about to be continued (RFC 9110 §14, RFC 9111 §3.4).
struct Resumption: Hashable, Sendable {
    let record: PartialRecord
    /// Bytes of the image that are there.
    let received: Int64

    /// `nil` if there is nothing to continue, or more than there can be.
    init?(_ record: PartialRecord, received: Int64) {
        guard received > 0, received <= record.total else { return nil }
        self.record = record
        self.received = received
    }

    /// The fields that ask for the rest, or for all of it if it changed.
    var fields: [RequestField] {
        [
            RequestField(name: "Range", value: "bytes=\(received)-"),
            RequestField(name: "If-Range", value: record.validator.fieldValue),
        ]
    }

    /// What the answer to such a request means.
    enum Answer: Equatable {
        /// The body continues where the partial ends.
        case goesOn
        /// The body is the whole image: the origin has another one, or knows no ranges.
        case startsOver
        /// The bytes that are there are all there are.
        case isWhole
        /// Of no use: ask again without a range.
        case unusable
        /// Neither a part nor an image: a failure like that of any other request.
        case failure
    }

    func answer(_ head: ResponseHead, now: UnixTime) -> Answer {
        switch head.status {
        case 200: .startsOver
        case 206: isFromThere(head) && goesOn(head, now) ? .goesOn : .unusable
        case 416: isFromThere(head) && isWhole(head, now) ? .isWhole : .unusable
        // Not there, or not now, be it asked for in parts or whole.
        case 404, 408, 410, 429: .failure
        // Perhaps for want of sympathy with ranges: who asks for the whole is told.
        case 201...299, 304, 400...499, 501: .unusable
        default: .failure
        }
    }

    private func isFromThere(_ head: ResponseHead) -> Bool { head.source == record.source }

    /// The part begins where the partial ends, is one of the same image, and not of another length
    /// than it says.
    private func goesOn(_ head: ResponseHead, _ now: UnixTime) -> Bool {
        guard head.contentEncoding == nil, record.validator.agrees(with: head, now: now),
            case .part(let first, let last, let total) = head.contentRange.flatMap(
                ContentRange.init),
            first == received, last < record.total, total == nil || total == record.total
        else { return false }
        return head.contentLength == nil || head.contentLength == last - first + 1
    }

    /// How much of the image is there once all bytes of a part have come, as it says itself.
    func end(of head: ResponseHead) -> Int64? {
        guard head.status == 206,
            case .part(_, let last, _) = head.contentRange.flatMap(ContentRange.init)
        else { return nil }
        return last + 1
    }

    /// Nothing is left to send, and it is not said that this were another image.
    private func isWhole(_ head: ResponseHead, _ now: UnixTime) -> Bool {
        guard received == record.total, !record.validator.isContradicted(by: head, now: now) else {
            return false
        }
        return head.contentRange.flatMap(ContentRange.init) == .unsatisfied(total: record.total)
    }
}

/// Which bytes a response has (RFC 9110 §14.4).
enum ContentRange: Equatable {
    /// The places of the first and the last byte, and how many there are in all.
    case part(first: Int64, last: Int64, total: Int64?)
    /// None, because the range asked for lies outside.
    case unsatisfied(total: Int64)

    init?(_ text: String) {
        let words = text.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let halves = words[1].trimmed.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let total = Self.number(halves[1])
        guard total != nil || halves[1] == "*" else { return nil }
        if halves[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            first <= last, total.map({ last < $0 }) ?? true
        else { return nil }
        self = .part(first: first, last: last, total: total)
    }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int64(text)
    }
}
