import TestSupport
import Testing

@testable import HTTPCaching

/// Random damage never traps a parser, and a value that was parsed is the same after it is written and parsed
/// again.
@Suite("Parsers, damaged input", .timeLimit(.minutes(isLongForm ? 30 : 10)))
struct ParserFuzzTests {
    private static let count = isLongForm ? 1_000_000 : 3000

    private static let records = [
        """
        v1 size=22031 type=image/png width=640 height=480 fetched=1790000000 fresh=1790003600 \
        pinned=1 lifetime=3600 guessed=1 strict=1 swr=60 sie=0 remove=1790000060 \
        modified=1780000000 etag="x1"
        """,
        "v1 size=5 type=image/png fetched=7 fresh=9", "v1 size=999999999999999999",
        "v1 size=0 etag=W/\"é\" swr=999999999999999999 sie=999999999999999999 fresh=4294967295",
    ]

    private static let validatorRecords = [
        "v2 sha256=b402668de7212c568090edc032288759029e15e5153f3ae43f079abfd44105a4 at=9a "
            + "modified=1780000000 etag=\"x1\"",
        "v2 etag=W/\"é\" modified=4294967295", "v2",
    ]

    private static let partialRecords = [
        "v1 total=1028192 etag=\"6b012ffe-fb060\"", "v1 total=9223372036854775807 modified=0",
        "v1 total=1 boot=3f1c0a9be4d24877 modified=4294967295 x=y",
    ]

    private static let fields = [
        "HTTP/1.1 200 OK", "Content-Length: 9223372036854775807", "Content-Length: 10",
        "Content-Range: bytes 0-9223372036854775806/9223372036854775807",
        "Content-Range: bytes 5-9/10", "Age: 99999999999999999999", "Retry-After: 2147483648",
        "Cache-Control: max-age=9223372036854775807, stale-if-error=\"99999999999\", private=\"a,b\"",
        "Cache-Control: no-store,must-understand , s-maxage = 3", "Pragma: no-cache", "Vary: *",
        "Expires: Fri, 31 Dec 9999 23:59:59 GMT", "Date: Thu, 01 Jan 1970 00:00:00 GMT",
        "Last-Modified: Sunday, 06-Nov-94 08:49:37 GMT", "Last-Modified: Sun Nov  6 08:49:37 1994",
        "ETag: W/\"1\"", "ETag: \"1\"", "Content-Encoding: gzip", "Transfer-Encoding: chunked",
    ]

    /// One of `texts` with one or more random damages.
    private func damaged(_ texts: [String], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = Array(random.one(of: texts).utf8)
        while !random.oneIn(3) { random.damage(&bytes) }
        return bytes
    }

    @Test func damagedEntryRecordsReadBackAsWritten() {
        var random = SeededGenerator(seed: testSeed)
        for number in 0..<Self.count {
            var bytes = damaged(Self.records, &random)
            // Random damage of a binary record would stop at its checksum.
            if number % 2 == 0 {
                bytes = Sample.record(size: 5).bytes.dropLast(4)
                while !random.oneIn(3) { random.damage(&bytes) }
                bytes.seal()
            }
            guard let record = EntryRecord(bytes) else { continue }
            let written = record.bytes
            #expect(EntryRecord(written)?.bytes == written, "seed \(testSeed): \(bytes)")
            for rules in [CachingRules(), Sample.sharedRules] {
                _ = record.reuse(at: Sample.now)
                _ = record.allowsStaleIfError(at: Sample.now, rules)
                _ = record.confirmed(by: head(&random), Sample.atOnce, rules)
            }
        }
    }

    @Test func damagedValidatorRecordsReadBackAsWritten() {
        var random = SeededGenerator(seed: testSeed)
        for _ in 0..<Self.count {
            var text = String(decoding: damaged(Self.validatorRecords, &random), as: UTF8.self)
            RecordChecksum.seal(&text)
            guard let record = ValidatorRecord(text: text) else { continue }
            let written = record.text
            #expect(ValidatorRecord(text: written)?.text == written, "seed \(testSeed): \(text)")
            _ = record.validators.conditionFields
        }
    }

    @Test func damagedPartialRecordsReadBackAsWritten() {
        var random = SeededGenerator(seed: testSeed)
        for _ in 0..<Self.count {
            let text = String(decoding: damaged(Self.partialRecords, &random), as: UTF8.self)
            guard let record = PartialRecord(text: text) else { continue }
            #expect(PartialRecord(text: record.text) == record, "seed \(testSeed): \(text)")
            guard let resumption = Resumption(record, received: record.total) else { continue }
            for _ in 0..<4 { _ = resumption.answer(head(&random), now: Sample.now) }
        }
    }

    @Test func damagedHeadsMakeReadableRecords() {
        var random = SeededGenerator(seed: testSeed)
        for _ in 0..<Self.count {
            let head = head(&random)
            let rules = random.oneIn(2) ? CachingRules() : Sample.sharedRules
            let record = EntryRecord(
                size: 10, Sample.report, head, Sample.atOnce, rules)
            let validators = ValidatorRecord(digest: nil, validators: record.validators)
            let read = ValidatorRecord(text: validators.text)?.validators
            if record.validators.isEmpty {
                #expect(read?.conditionFields.isEmpty == true, "seed \(testSeed): \(head)")
            } else {
                #expect(read == record.validators, "seed \(testSeed): \(head)")
            }
            let bare = EntryRecord(record.bytes)
            #expect(bare == record.withoutValidators, "seed \(testSeed): \(head)")
            _ = rules.statedLifetime(of: head, Sample.atOnce)
            _ = head.retryAfterSeconds(now: Sample.now)
            if let partial = PartialRecord(head, now: Sample.now) {
                #expect(PartialRecord(text: partial.text) == partial, "seed \(testSeed): \(head)")
            }
        }
    }

    @Test func damagedDatesReadBackAsWritten() {
        var random = SeededGenerator(seed: testSeed)
        let texts = [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994", "Fri, 31 Dec 9999 23:59:59 GMT",
        ]
        for _ in 0..<Self.count {
            let text = String(decoding: damaged(texts, &random), as: UTF8.self)
            guard let time = HTTPDate.parse(text, now: Sample.now) else { continue }
            let again = HTTPDate.parse(HTTPDate.format(time), now: Sample.now)
            #expect(again == time, "seed \(testSeed): \(text)")
        }
    }

    /// A head of random lines, half of them damaged.
    private func head(_ random: inout SeededGenerator) -> ResponseHead {
        var head = ResponseHead("HTTP/1.1 200 OK")
        while !random.oneIn(8) {
            let line =
                random.oneIn(2)
                ? damaged(Self.fields, &random) : Array(random.one(of: Self.fields).utf8)
            (line + [13, 10]).withUnsafeBytes { _ = head.take($0) }
        }
        head.takePending()
        return head
    }
}
