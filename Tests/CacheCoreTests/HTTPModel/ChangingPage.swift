import CacheValues
import HTTPCaching
import TestSupport

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// One image of an origin. Tests change its version, its `Cache-Control` and its health.
struct ChangingPage: Sendable {
    /// The validator that distinguishes the versions. It never changes.
    enum Validator: CaseIterable {
        case none, weakTag, strongTag, date
    }

    /// The `Cache-Control` of the responses.
    enum Control: String, CaseIterable {
        case fresh = "max-age=1000"
        case stale = "max-age=0"
        case window = "max-age=0, stale-while-revalidate=1000"
        case brief = "max-age=0, stale-if-error=0"
        case strict = "max-age=0, must-revalidate"
        case asked = "no-cache"

        /// Whether the cached image can be used if the origin fails.
        var allowsStaleIfError: Bool { [.fresh, .stale, .window].contains(self) }
    }

    enum Health: CaseIterable {
        case well
        /// The status is 503.
        case busy
        /// The connection is reset.
        case resetting
        /// The body is cut off.
        case cutting
        /// The status is 404.
        case gone
        /// The body is an HTML page instead of an image.
        case confused
    }

    /// The number of different images. After the last one, the first comes again with another tag.
    static let images = 6

    let number: Int
    let validator: Validator
    private let bodies: [[UInt8]]
    var version = 0
    var control = Control.fresh
    var health = Health.well
    var isChunked = false

    init(number: Int, _ validator: Validator) {
        (self.number, self.validator) = (number, validator)
        bodies = (0..<Self.images).map { image in
            SampleImage.png(
                byteCount: 40_000 + number * 1000 + image * 300,
                seed: number * Self.images + image)
        }
    }

    var path: String { "/\(number).png" }

    func body(_ version: Int) -> [UInt8] { bodies[version % Self.images] }

    // MARK: Responses

    func answer(_ request: OriginRequest) -> OriginScript {
        switch health {
        case .well: isConfirmed(request) ? [.head(304, fields)] : whole(request)
        case .busy: .answer(503)
        case .resetting: [.reset]
        case .cutting: cut(request)
        case .gone: .answer(404)
        case .confused:
            .answer(headers: ["Content-Type": "text/html"], body: Array("<html></html>".utf8))
        }
    }

    private func isConfirmed(_ request: OriginRequest) -> Bool {
        switch validator {
        case .none: false
        case .weakTag, .strongTag: request.headers["If-None-Match"] == tag
        case .date: request.headers["If-Modified-Since"] == date
        }
    }

    private func whole(_ request: OriginRequest) -> OriginScript {
        let (body, from) = (body(version), firstOfRange(request))
        guard let from else {
            return isChunked
                ? .chunked(body, headers: fields) : .answer(headers: fields, body: body)
        }
        return .answer(206, headers: partFields(from), body: Array(body[from...]))
    }

    /// A response with half of the bytes that it promises.
    private func cut(_ request: OriginRequest) -> OriginScript {
        let (body, from) = (body(version), firstOfRange(request))
        let rest = Array(body[(from ?? 0)...])
        if isChunked, from == nil {
            return .chunked(Array(rest[..<(rest.count / 2)]), ended: false, headers: fields)
        }
        let promise: HeaderFields = ["Content-Length": "\(rest.count)"]
        let head = (from.map { partFields($0) } ?? fields).withDefaults(promise)
        return [
            .head(from == nil ? 200 : 206, head), .bytes(Array(rest[..<(rest.count / 2)])), .close,
        ]
    }

    /// The offset of the requested part. `nil` if the whole image is to be sent.
    private func firstOfRange(_ request: OriginRequest) -> Int? {
        guard let first = request.firstOfRange, let condition = request.headers["If-Range"],
            condition == (validator == .date ? date : tag)
        else { return nil }
        return first
    }

    private func partFields(_ from: Int) -> HeaderFields {
        let count = body(version).count
        return fields.withDefaults(["Content-Range": "bytes \(from)-\(count - 1)/\(count)"])
    }

    private var tag: String { (validator == .weakTag ? "W/" : "") + "\"\(version)\"" }
    private var date: String {
        HTTPDate.format(UnixTime(rawValue: 1_000_000_000 + UInt32(version)))
    }

    private var fields: HeaderFields {
        let common: HeaderFields = ["Cache-Control": control.rawValue, "Content-Type": "image/png"]
        return switch validator {
        case .none: common
        case .weakTag, .strongTag: common.withDefaults(["ETag": tag])
        case .date:
            common.withDefaults(["Last-Modified": date, "Date": HTTPDate.format(.now)])
        }
    }
}
