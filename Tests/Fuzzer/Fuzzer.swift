import CacheKey
import CacheWire
import Glibc

@testable import CacheCore

/// What libFuzzer calls with bytes of its making: the first says who reads the rest. A reader that traps, or
/// that finds what can't be, ends the program, and libFuzzer keeps the bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func readOneInput(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: bytes, count: count)
    guard let first = input.first else { return 0 }
    let reader = Reader.all[Int(first) % Reader.all.count]
    reader(UnsafeRawBufferPointer(rebasing: input.dropFirst()))
    return 0
}

/// Those who read what strangers wrote.
private enum Reader {
    static let all: [@Sendable (UnsafeRawBufferPointer) -> Void] = [
        call, reply, url, head, entryRecord, partialRecord, image, date,
    ]

    /// A client's message: what the scanner takes, the decoder takes to be the same.
    @Sendable static func call(_ bytes: UnsafeRawBufferPointer) {
        let call = try? IncomingCall(bytes)
        guard let scanned = StatusCall(bytes) else { return }
        guard case .success(.status(let parameters))? = call?.request else {
            fatalError("the scanner takes what the decoder does not")
        }
        expect(parameters.urls.map { Array($0.utf8) } == scanned.urls.map { Array(bytes[$0]) })
    }

    /// A daemon's.
    @Sendable static func reply(_ bytes: UnsafeRawBufferPointer) {
        _ = try? Message.decode(Reply<Methods.Status.Reply>.self, from: Array(bytes))
        _ = try? Message.decode(Reply<Methods.Stats.Reply>.self, from: Array(bytes))
    }

    @Sendable static func url(_ bytes: UnsafeRawBufferPointer) {
        guard let url = try? CacheURL(String(decoding: bytes, as: UTF8.self)) else { return }
        expect(CacheKey(url).description.utf8.count == 36)
    }

    /// An origin's answer, and what a record of it says.
    @Sendable static func head(_ bytes: UnsafeRawBufferPointer) {
        let head = responseHead(bytes)
        _ = head.retryAfterSeconds(now: now)
        for rules in [CachingRules(), shared] {
            let record = EntryRecord(size: 10, noImage, head, times, rules)
            expect(entry(record.text) == record)
        }
        if let partial = PartialRecord(head, now: now) {
            expect(PartialRecord(text: partial.text) == partial)
        }
    }

    @Sendable static func entryRecord(_ bytes: UnsafeRawBufferPointer) {
        guard let record = EntryRecord(text: bytes) else { return }
        // As text: a width without a height is read and not written.
        expect(entry(record.text)?.text == record.text)
        _ = record.reuse(at: now)
        _ = record.outlivesFailure(at: now, shared)
    }

    @Sendable static func partialRecord(_ bytes: UnsafeRawBufferPointer) {
        guard let record = PartialRecord(text: String(decoding: bytes, as: UTF8.self)) else {
            return
        }
        expect(PartialRecord(text: record.text) == record)
    }

    /// In one piece or in many, an image is the same.
    @Sendable static func image(_ bytes: UnsafeRawBufferPointer) {
        var atOnce = ImageInspector()
        atOnce.consume(bytes)
        var inPieces = ImageInspector()
        var rest = bytes[...]
        // Each is as long as its first byte says.
        while let length = rest.first {
            let piece = rest.prefix(Int(length) + 1)
            inPieces.consume(UnsafeRawBufferPointer(rebasing: piece))
            rest = rest.dropFirst(piece.count)
        }
        expect(atOnce.finish() == inPieces.finish())
    }

    @Sendable static func date(_ bytes: UnsafeRawBufferPointer) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let time = HTTPDate.parse(text, now: now) else { return }
        expect(HTTPDate.parse(HTTPDate.format(time), now: now) == time)
    }

    // MARK: What they share

    private static let now = UnixTime(rawValue: 1_790_000_000)
    private static let times = RequestTimes(sent: now, received: now)

    private static let noImage: ImageReport = {
        var inspector = ImageInspector()
        return inspector.finish()
    }()

    private static let shared: CachingRules = {
        var rules = CachingRules()
        rules.isShared = true
        return rules
    }()

    private static func responseHead(_ bytes: UnsafeRawBufferPointer) -> ResponseHead {
        var head = ResponseHead()
        for line in bytes.split(separator: 10, omittingEmptySubsequences: false) {
            (Array(line) + [13, 10]).withUnsafeBytes { _ = head.take($0) }
        }
        head.takePending()
        return head
    }

    private static func entry(_ text: String) -> EntryRecord? {
        Array(text.utf8).withUnsafeBytes { EntryRecord(text: $0) }
    }

    private static func expect(_ holds: Bool, line: Int = #line) {
        guard !holds else { return }
        fatalError("line \(line): what was read is not what was written")
    }
}
