import CLinux
import Glibc

/// Reads the secret of the HTTP face.
enum SecretFile {
    /// The fewest bytes of a secret: 128 bits in hexadecimal digits.
    private static let shortest = 32
    private static let longest = 4096

    /// The text of a file without white space at its end. Other users must not be able to read the file. open(2),
    /// fstat(2).
    static func read(_ path: String) throws(ProgramFailure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .input("cannot open the secret \(path)", errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .secret("the secret \(path) is not a file")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw .secret("other users have access to the secret \(path); run: chmod 600 \(path)")
        }
        var bytes = [UInt8](repeating: 0, count: longest + 1)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw .input("cannot read the secret \(path)", errno) }
        var text = bytes[..<count]
        while let last = text.last, [0x0A, 0x0D, 0x20, 0x09].contains(last) { text.removeLast() }
        guard (shortest...longest).contains(text.count) else {
            throw .secret(
                "the secret \(path) must have \(shortest) to \(longest) characters; make one with: "
                    + "openssl rand -hex 32")
        }
        return Array(text)
    }
}

extension ProgramFailure {
    /// EX_NOINPUT.
    fileprivate static func input(_ action: String, _ cause: Int32) -> ProgramFailure {
        ProgramFailure(message: "\(action): \(String(cString: strerror(cause)))", status: 66)
    }

    /// EX_CONFIG.
    fileprivate static func secret(_ message: String) -> ProgramFailure {
        ProgramFailure(message: message, status: 78)
    }
}
