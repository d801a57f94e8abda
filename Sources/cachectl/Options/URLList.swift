import CacheKey
import CacheWire

/// The URLs of a command, in order, and the lines of standard input that cannot be URLs.
///
/// A key is computed from bytes, and JSON can carry only UTF-8. A line that is not UTF-8 can
/// therefore neither be repaired nor sent, and a line longer than a call cannot be sent either.
/// Such lines are rejected here, in the same way as the daemon rejects an invalid URL.
struct URLList: Equatable {
    /// The URLs to send to the daemon.
    private(set) var urls: [String]
    /// The rejected lines, in order.
    private(set) var invalidLines: [InvalidLine] = []

    /// A rejected line of standard input.
    struct InvalidLine: Equatable {
        /// The number of ``urls`` that came before this line.
        let position: Int
        /// The item that the daemon would return: missing, with the failure kind `invalidURL`. Its
        /// text has U+FFFD in place of bytes that are not UTF-8. Its key is that of the original
        /// bytes.
        let item: Item
    }

    /// The longest line that is sent to the daemon, in bytes, even if it is not a URL. One call has
    /// room for many such lines.
    private static let longestLine = 64 * 1024

    init(_ urls: [String] = []) {
        self.urls = urls
    }

    /// Makes each URL that of an account. What is no URL stays, so that the daemon says why.
    mutating func name(_ account: String) throws {
        urls = try urls.map { text in
            let url: CacheURL
            do { url = try CacheURL(text) } catch { return text }
            do {
                return try url.of(account: account).string
            } catch {
                throw CommandFailure(status: .usage, message: "--as: \(error)")
            }
        }
    }

    mutating func append(_ url: String) {
        urls.append(url)
    }

    /// Appends a line of standard input, without blanks at its ends and without the CR of a DOS line end. Empty
    /// lines, and comments that begin with `#`, are skipped. `number` counts from 1.
    mutating func append(line: ArraySlice<UInt8>, number: Int) throws(CommandFailure) {
        let bytes = line.trimmingBlanks
        guard let first = bytes.first, first != UInt8(ascii: "#") else { return }
        let text = String(validating: bytes, as: UTF8.self)
        if let text, bytes.count <= Self.longestLine { return append(text) }
        try CommandFailure.checkThatKeysCanBeComputed()
        let key = bytes.withUnsafeBytes { CacheKey(urlBytes: $0) }
        var item = Item(
            url: text ?? String(decoding: bytes, as: UTF8.self), key: "\(key)", state: .missing)
        let problem =
            text == nil
            ? "is not UTF-8"
            : "has \(bytes.count) bytes; a URL has at most \(CacheURL.maximumLength)"
        item.failure = Failure(
            kind: Failure.invalidURL, message: "line \(number) of standard input \(problem)")
        invalidLines.append(InvalidLine(position: urls.count, item: item))
    }
}

extension URLList {
    /// Calls the daemon with one batch of URLs at a time and hands the items of each call to
    /// `handle`. The items of rejected lines are inserted at their original positions.
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

    /// Inserts the items of rejected lines among `items`, which belong to the URLs from `position`
    /// on.
    private static func merged(
        _ items: [Item], _ invalidLines: inout ArraySlice<InvalidLine>, from position: Int
    ) -> [Item] {
        // Usually no line was rejected. This shortcut avoids a copy of the array.
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

    /// Reports rejected lines on standard error, for commands that print no items. Returns whether
    /// there were any.
    func reportInvalidLines() -> Bool {
        for item in invalidLines.map(\.item) {
            StandardError.report(item.url, item.failure?.message ?? "it is not a URL")
        }
        return !invalidLines.isEmpty
    }
}

extension ArraySlice<UInt8> {
    /// The bytes without spaces, tabs and CR at their ends.
    var trimmingBlanks: ArraySlice<UInt8> {
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0D]
        let tail = drop { blanks.contains($0) }
        guard let last = tail.lastIndex(where: { !blanks.contains($0) }) else { return [] }
        return tail[...last]
    }
}
