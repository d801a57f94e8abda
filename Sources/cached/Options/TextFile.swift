import Glibc
import SystemPackage

/// A small file that a person has written.
enum TextFile {
    /// Why it can't be used, to be said behind its name.
    enum Problem: Error, CustomStringConvertible {
        case unreadable(Errno)
        case notAFile
        case notText(line: Int)

        var description: String {
            switch self {
            case .unreadable(let error): "can't be read: \(error)"
            case .notAFile: "is no regular file"
            case .notText(let line): "is no text in UTF-8: line \(line)"
            }
        }
    }

    /// Its lines without their ends, be these of Unix or of DOS, and without the mark some editors begin
    /// with. What is no file is not waited for: a FIFO may have nobody at its other end. open(2), getline(3).
    static func lines(of path: String) throws(Problem) -> [String] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0, let file = fdopen(descriptor, "r") else { throw unreadable }
        defer { fclose(file) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw unreadable }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
        var lines: [String] = []
        var buffer: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(buffer) }
        while case let length = getline(&buffer, &capacity, file), length >= 0, let buffer {
            let bytes = UnsafeRawBufferPointer(start: buffer, count: length)
            guard var line = String(validating: bytes, as: UTF8.self), !line.contains("\0") else {
                throw .notText(line: lines.count + 1)
            }
            while line.last?.isNewline == true { line.removeLast() }
            lines.append(line)
        }
        guard ferror(file) == 0 else { throw unreadable }
        if lines.first?.unicodeScalars.first == "\u{FEFF}" { lines[0].unicodeScalars.removeFirst() }
        return lines
    }

    private static var unreadable: Problem { .unreadable(Errno(rawValue: errno)) }
}
