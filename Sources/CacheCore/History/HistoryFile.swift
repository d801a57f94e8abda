import CacheValues
import Glibc
internal import Logging
internal import SystemPackage

/// The file of the history, beside the lock of the directory: lines of text behind a header.
struct HistoryFile: Sendable {
    static let name = ".history"
    private static let newName = ".history.new"
    private static let header = Array("cached history 1\n".utf8)
    /// The size at which the file is shortened, and the most bytes of events that are kept then.
    private static let longest = 6 << 20
    private static let kept = 4 << 20

    let directory: CacheDirectory
    let logger: Logger
    /// Not that of the directory: no planned fault is meant for these calls.
    private let kernel = Kernel()
    /// Whether a problem was logged since the last success.
    private var hasReported = false

    init(directory: CacheDirectory, logger: Logger) {
        (self.directory, self.logger) = (directory, logger)
    }

    /// Appends lines. Returns whether they are in the file.
    mutating func append(_ lines: [UInt8]) -> Bool {
        guard directory.isInPlace else { return false }
        do throws(Errno) {
            let file = try kernel.open(
                Self.name, in: directory.descriptor, O_RDWR | O_CREAT | O_APPEND, mode: 0o600)
            defer { close(file) }
            var size = try kernel.status(of: file).st_size
            let isDamaged = size > 0 ? try !begins(file) : false
            if isDamaged {
                report("the history was damaged; it is empty now")
                try kernel.truncate(file, to: 0)
                size = 0
            }
            do throws(Errno) {
                let start =
                    size == 0 ? Self.header : try endsALine(file, size) ? [] : [UInt8(ascii: "\n")]
                try write(start + lines, to: file)
            } catch {
                // A part of a line would spoil the next one.
                try kernel.truncate(file, to: Int64(size))
                throw error
            }
            if size + lines.count > Self.longest { try shorten() }
            hasReported = false
            return true
        } catch {
            report("the history can't be written, and stays in memory", error)
            return false
        }
    }

    /// The text of the file, if there is one, and a text that follows it.
    mutating func read(before rest: [UInt8] = []) -> [UInt8] {
        do throws(Errno) {
            let file = try kernel.open(Self.name, in: directory.descriptor, O_RDONLY)
            defer { close(file) }
            let size = min(Int(try kernel.status(of: file).st_size), 4 * Self.longest)
            guard try begins(file) else { return rest }
            var text: [UInt8] = []
            // Nothing of it stays in the heap of the thread that asks.
            text.reserveCapacity(max(size + rest.count, ProcessMemory.largeBlock))
            text += repeatElement(0, count: size)
            var count = 0
            try text.withUnsafeMutableBufferPointer { (bytes) throws(Errno) in
                count = try kernel.read(file, at: 0, into: UnsafeMutableRawBufferPointer(bytes))
            }
            text.removeLast(size - count)
            text += rest
            return text
        } catch {
            if error != .noSuchFileOrDirectory { report("the history can't be read", error) }
            return rest
        }
    }

    /// Whether a file begins as it must.
    private func begins(_ file: Int32) throws(Errno) -> Bool {
        var start = [UInt8](repeating: 0, count: Self.header.count)
        try start.withUnsafeMutableBufferPointer { (bytes) throws(Errno) in
            _ = try kernel.read(file, at: 0, into: UnsafeMutableRawBufferPointer(bytes))
        }
        return start == Self.header
    }

    /// Whether a file ends with a whole line. It does not if the machine lost its power.
    private func endsALine(_ file: Int32, _ size: Int) throws(Errno) -> Bool {
        var last = [UInt8](repeating: 0, count: 1)
        try last.withUnsafeMutableBufferPointer { (bytes) throws(Errno) in
            let bytes = UnsafeMutableRawBufferPointer(bytes)
            _ = try kernel.read(file, at: Int64(size) - 1, into: bytes)
        }
        return last == [UInt8(ascii: "\n")]
    }

    /// Replaces the file by one with the newest events and samples.
    private mutating func shorten() throws(Errno) {
        let oldest = UnixTime.now + -History.sampledTime
        var lines: [ArraySlice<UInt8>] = []
        var (events, bytes) = (0, 0)
        let text = read()
        text.forEachLineFromTheEnd { line in
            if let sample = HistorySample(line: line) {
                if sample.at >= oldest { lines.append(ArraySlice(line)) }
            } else if events < History.limit, bytes + line.count < Self.kept {
                lines.append(ArraySlice(line))
                (events, bytes) = (events + 1, bytes + line.count + 1)
            }
            return true
        }
        let file = try kernel.open(
            Self.newName, in: directory.descriptor, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        defer { close(file) }
        let kept = lines.reversed().map { Array($0) + [UInt8(ascii: "\n")] }
        try write(Self.header + kept.joined(), to: file)
        try kernel.rename(Self.newName, to: Self.name, in: directory.descriptor)
    }

    private func write(_ bytes: [UInt8], to file: Int32) throws(Errno) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(Errno) in
            var rest = UnsafeRawBufferPointer(bytes)
            try kernel.write(&rest, to: file)
        }
    }

    private mutating func report(_ problem: Logger.Message, _ error: Errno? = nil) {
        guard !hasReported else { return }
        hasReported = true
        var fields: Logger.Metadata = ["path": "\(directory.path)/\(Self.name)"]
        if let error { fields["error"] = "\(error)" }
        logger.notice(problem, metadata: fields)
    }
}

extension [UInt8] {
    /// Calls `body` with each whole line, the last one first, until it returns `false`.
    func forEachLineFromTheEnd(_ body: (Slice<UnsafeRawBufferPointer>) -> Bool) {
        withUnsafeBytes { bytes in
            var rest = bytes[...]
            // A line without an end was not written whole.
            while let end = rest.lastIndex(of: UInt8(ascii: "\n")) {
                let start = rest[..<end].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
                guard body(bytes[start..<end]) else { return }
                rest = bytes[..<start]
            }
        }
    }
}
