import Glibc
import SystemPackage

/// A small text file that a person has written.
enum TextFile {
    /// Why the file cannot be used; the text continues a sentence that begins with the name of the file.
    enum Problem: Error, CustomStringConvertible {
        case unreadable(Errno)
        case notAFile
        case tooLarge
        case notText(line: Int)

        var description: String {
            switch self {
            case .unreadable(let error): "cannot be read: \(error)"
            case .notAFile: "is not a regular file"
            case .tooLarge: "is larger than 64 KiB; split it, or shorten it"
            case .notText(let line): "is not plain UTF-8 text (see line \(line))"
            }
        }
    }

    /// The most bytes of a file.
    private static let longest = 64 << 10

    /// The lines without their line ends, of Unix or of DOS, and without the byte order mark that some editors add.
    /// The file is opened without blocking, because the path can be a FIFO without a writer. open(2), getline(3).
    static func lines(of path: String) throws(Problem) -> [String] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0, let file = fdopen(descriptor, "r") else { throw unreadable }
        defer { fclose(file) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw unreadable }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
        guard status.st_size <= longest else { throw .tooLarge }
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
