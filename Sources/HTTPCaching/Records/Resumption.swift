package import CacheValues

/// The continuation of an interrupted download (RFC 9110 §14, RFC 9111 §3.4).
package struct Resumption: Hashable, Sendable {
    package let record: PartialRecord
    /// Bytes of the image that were received before.
    package let received: Int64

    /// `nil` if there are no bytes to continue, or more than the image has.
    package init?(_ record: PartialRecord, received: Int64) {
        guard received > 0, received <= record.total else { return nil }
        self.record = record
        self.received = received
    }

    /// The fields that request the rest of the image, or all of it if it has changed.
    package var fields: [RequestField] {
        [
            RequestField(name: "Range", value: "bytes=\(received)-"),
            RequestField(name: "If-Range", value: record.validator.fieldValue),
        ]
    }

    /// The meaning of a response to such a request.
    package enum Answer: Equatable, Sendable {
        /// The body continues at the end of the partial.
        case goesOn
        /// The body is the whole image: it has changed, or the origin does not support ranges.
        case startsOver
        /// The partial has all bytes of the image.
        case isWhole
        /// The response is of no use. The image has to be requested without a range.
        case unusable
        /// The response is a failure, as for any other request.
        case failure
    }

    package func answer(_ head: ResponseHead, now: UnixTime) -> Answer {
        switch head.status {
        case 200: isWhole(head, now) ? .startsOver : .unusable
        case 206: hasSameSource(head) && goesOn(head, now) ? .goesOn : .unusable
        case 416: hasSameSource(head) && hasNothingLeft(head, now) ? .isWhole : .unusable
        // The image is gone or not available now, with or without a range.
        case 404, 408, 410, 429: .failure
        // The origin may object to the range only. A request without one will show it.
        case 201...299, 304, 400...499, 501: .unusable
        default: .failure
        }
    }

    /// Whether the body of a 200 is the whole image for sure. Some servers and proxies send the requested part with
    /// this status, and not all of them add its `Content-Range`. A proxy that changes a body on its way leaves out its
    /// length and weakens the validator.
    private func isWhole(_ head: ResponseHead, _ now: UnixTime) -> Bool {
        guard head.contentRange == nil || head.isWholeRange else { return false }
        guard record.validator.isContradicted(by: head, now: now) else {
            return head.contentLength == record.total && head.contentCodings.isEmpty
        }
        return head.contentLength.map { $0 != record.total - received } ?? false
    }

    private func hasSameSource(_ head: ResponseHead) -> Bool { head.source == record.source }

    /// Whether the part begins at the end of the partial, belongs to the same image, and has the length that it
    /// states.
    private func goesOn(_ head: ResponseHead, _ now: UnixTime) -> Bool {
        guard head.contentCodings.isEmpty, record.validator.agrees(with: head, now: now),
            case .part(let first, let last, let total) = head.contentRange.flatMap(
                ContentRange.init),
            first == received, last < record.total, total == nil || total == record.total
        else { return false }
        return head.contentLength == nil || head.contentLength == last - first + 1
    }

    /// Bytes of the image after a part has arrived completely, by its own statement.
    package func end(of head: ResponseHead) -> Int64? {
        guard head.status == 206,
            case .part(_, let last, _) = head.contentRange.flatMap(ContentRange.init)
        else { return nil }
        return last + 1
    }

    /// Whether nothing is left to send, and the response does not belong to another image.
    private func hasNothingLeft(_ head: ResponseHead, _ now: UnixTime) -> Bool {
        guard received == record.total, !record.validator.isContradicted(by: head, now: now) else {
            return false
        }
        return head.contentRange.flatMap(ContentRange.init) == .unsatisfied(total: record.total)
    }
}
