internal import CLinux
import Glibc
internal import SystemPackage

/// A running `cached-deriver`. It is killed with its owner.
final class DeriverProcess {
    private let socket: Int32
    private let process: Int32

    /// The seconds after which a process counts as hanging. It ends by itself after 10 s on a processor.
    private static let patience = 30
    private static let longestAnswer = 256
    /// Bytes. 2048 x 2048 pixels of four bytes, and a little more.
    private static let largestPicture = 20 << 20

    /// Why an image cannot be derived.
    enum Problem: Error {
        /// The process says so, and goes on.
        case refused(String)
        /// The process has ended or hangs.
        case lost
    }

    /// posix_spawn(3)
    init(_ program: String) throws(Errno) {
        var process: Int32 = 0
        socket = clinux_start(program, 1, &process)
        guard socket >= 0 else { throw Errno(rawValue: errno) }
        self.process = process
    }

    deinit {
        close(socket)
        kill(process, SIGKILL)
        while waitpid(process, nil, 0) < 0, errno == EINTR {}
    }

    /// Derives an image from an open file. The bytes are what the process makes of it: they can be anything.
    ///
    /// - Parameters:
    ///   - side: the longest side in pixels.
    ///   - isWanted: asked once a second, so that the daemon can end.
    func derive(
        from original: Int32, side: Int, while isWanted: () -> Bool
    ) throws(Problem) -> [UInt8] {
        let picture = clinux_memory_file()
        guard picture >= 0 else { throw .lost }
        defer { close(picture) }
        var side = Int32(side)
        let size = MemoryLayout<Int32>.size
        guard clinux_send_descriptors(socket, &side, size, original, picture) == size else {
            throw .lost
        }
        var answer = [UInt8](repeating: 0, count: Self.longestAnswer)
        var count = 0
        for _ in 0..<Self.patience {
            count = recv(socket, &answer, answer.count, 0)
            guard count < 0, errno == EAGAIN || errno == EINTR, isWanted() else { break }
        }
        guard count > 0 else { throw .lost }
        guard answer[0] == UInt8(ascii: "+") else {
            throw .refused(String(decoding: answer[1..<count], as: UTF8.self))
        }
        guard let bytes = Self.contents(of: picture) else { throw .lost }
        return bytes
    }

    /// The process can still write to the file, so this is a copy.
    private static func contents(of file: Int32) -> [UInt8]? {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_size <= largestPicture else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        return pread(file, &bytes, bytes.count, 0) == bytes.count ? bytes : nil
    }
}
