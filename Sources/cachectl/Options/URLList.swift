import CacheKey
import CacheWire

/// The URLs a command is about, in order, and the lines of standard input that can be none.
///
/// A name is computed from bytes, and JSON carries no others than UTF-8: a line that is not can
/// neither be repaired nor sent, and one longer than a call may be can't be asked about. They are refused here,
/// as the daemon refuses an invalid URL.
struct URLList: Equatable {
    /// What the daemon can be asked about.
    private(set) var urls: [String]
    /// In order.
    private(set) var invalidLines: [InvalidLine] = []

    /// A line that was none, as the daemon would answer it.
    struct InvalidLine: Equatable {
        /// How many of ``urls`` came before it.
        let position: Int
        /// Missing, for an invalid URL: the text with U+FFFD for what is not UTF-8, the key of the
        /// bytes as they were.
        let item: Item
    }

    /// Bytes of a line that the daemon is asked about, be they no URL: many such fit into a call.
    private static let longestLine = 64 * 1024

    init(_ urls: [String] = []) {
        self.urls = urls
    }

    mutating func append(_ url: String) {
        urls.append(url)
    }

    /// Adds a line of standard input, counted from 1.
    mutating func append(line bytes: ArraySlice<UInt8>, number: Int) {
        let text = String(validating: bytes, as: UTF8.self)
        if let text, bytes.count <= Self.longestLine { return append(text) }
        let key = bytes.withUnsafeBytes { CacheKey(urlBytes: $0) }
        var item = Item(
            url: text ?? String(decoding: bytes, as: UTF8.self), key: "\(key)", state: .missing)
        let problem =
            text == nil
            ? "is not UTF-8"
            : "has \(bytes.count) bytes, and a URL at most \(CacheURL.maximumLength)"
        item.failure = Failure(
            kind: Failure.invalidURL, message: "line \(number) of standard input \(problem)")
        invalidLines.append(InvalidLine(position: urls.count, item: item))
    }
}

extension URLList {
    /// Asks about all URLs, a batch a call, and hands on the items of each call; what was refused
    /// stands in its place among them.
    func callInBatches(_ call: ([String]) throws -> [Item], handle: ([Item]) throws -> Void) throws
    {
        var invalidLines = invalidLines[...]
        var position = 0
        for batch in CallBatches(urls) {
            let answers = try call(batch)
            guard answers.count >= batch.count else {
                throw CommandFailure(
                    status: .protocolError,
                    message: "the daemon's reply has \(answers.count) items for \(batch.count) URLs"
                )
            }
            let items = Self.merged(answers, &invalidLines, from: position)
            position += batch.count
            try handle(items)
        }
        if !invalidLines.isEmpty {
            try handle(invalidLines.map(\.item))
        }
    }

    /// Items of the URLs from `position` on, with those of what was refused among them.
    private static func merged(
        _ items: [Item], _ invalidLines: inout ArraySlice<InvalidLine>, from position: Int
    ) -> [Item] {
        // Usually nothing was: then nothing is copied.
        guard let first = invalidLines.first, first.position < position + items.count else {
            return items
        }
        var merged: [Item] = []
        for (offset, item) in items.enumerated() {
            while let invalidLine = invalidLines.first, invalidLine.position <= position + offset {
                merged.append(invalidLine.item)
                invalidLines.removeFirst()
            }
            merged.append(item)
        }
        return merged
    }

    /// Tells what was refused, for commands that have no items; whether that was anything.
    func reportInvalidLines() -> Bool {
        for item in invalidLines.map(\.item) {
            StandardError.report(item.url, item.failure?.message ?? "it is no URL")
        }
        return !invalidLines.isEmpty
    }
}
