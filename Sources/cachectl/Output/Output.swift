import CacheWire

/// Buffered standard output. Call ``flush()`` after the last line.
struct Output {
    private var bytes: [UInt8] = []

    /// The buffer is written when it holds this many bytes.
    private static let piece = 64 << 10

    /// Appends one line. Terminal controls in it are escaped, wherever they come from.
    mutating func line(_ text: String) throws {
        bytes += text.printable.utf8
        try endLine()
    }

    /// Appends one line, with its colors on a terminal. A terminal without escape sequences gets none.
    mutating func line(_ line: StyledLine) throws {
        let environment = TerminalCapabilities.environment()
        guard StandardStream.output.isTerminal, environment["TERM"] != "dumb" else {
            return try self.line(line.text)
        }
        bytes += line.encoded(TerminalCapabilities(environment: environment)).utf8
        try endLine()
    }

    /// Appends one line with a path or name that programs read: unchanged, unless a terminal shows it.
    mutating func line(data text: String) throws {
        guard !StandardStream.output.isTerminal else { return try line(text) }
        bytes += text.utf8
        try endLine()
    }

    /// Appends text unchanged, without a line break.
    mutating func text(_ text: String) {
        bytes += text.utf8
    }

    /// Appends one line of JSON. Terminal controls in it are escaped.
    mutating func json(_ value: some JSONWritable) throws {
        bytes += Message.json(value).printableJSON
        try endLine()
    }

    private mutating func endLine() throws {
        bytes.append(UInt8(ascii: "\n"))
        if bytes.count >= Self.piece {
            try flush()
        }
    }

    /// Writes the buffer. Throws ``BrokenPipe`` if the reader has closed standard output.
    mutating func flush() throws {
        defer { bytes.removeAll(keepingCapacity: true) }
        try bytes.withUnsafeBytes { try StandardStream.output.print($0) }
    }
}

extension Output {
    /// Prints the line of `status`, or the JSON of an item.
    mutating func status(_ item: Item, json isJSON: Bool) throws {
        guard !isJSON else { return try json(item) }
        try line(data: item.statusLine)
        guard let failure = item.failure else { return }
        try flush()
        StandardError.report(item.url, failure.message)
    }

    /// Prints the number of removed entries, or its JSON. Throws if some could not be removed.
    ///
    /// - Parameter verb: the first word of the line, for example "evicted".
    mutating func removed(_ removed: RemovedEntries, verb: String, json isJSON: Bool) throws {
        if isJSON { try json(removed) } else { try line("\(verb) \(removed.text)") }
        try flush()
        guard let failure = removed.failure else { return }
        StandardError.report(failure.message)
        throw ExitStatus.incomplete.error
    }
}
