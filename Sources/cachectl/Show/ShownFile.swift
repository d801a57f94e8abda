import CLinux
import CacheKey
import CacheWire
import Glibc

/// The open file of a cached image.
struct ShownFile: ~Copyable {
    private let descriptor: Int32
    private let path: String
    /// A path under which programs that this process starts can open the file. proc(5).
    let programPath: String

    /// Opens the path of an image. If this user may not, the daemon hands the file over. open(2).
    init(of item: Item, _ client: Client) throws {
        path = item.path ?? item.url
        // A daemon can name any path. That of an image ends with the image's name.
        guard path.hasSuffix("/" + item.key), CacheKey(item.key) != nil else {
            throw CommandFailure(
                status: .inputOutput,
                message:
                    "the daemon names \(path), which is not the file of \(item.url); name another "
                    + "daemon with --socket")
        }
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if opened >= 0 { try Self.check(opened, path) }
        guard opened < 0 else {
            (descriptor, programPath) = (opened, path)
            return
        }
        let reason = errno
        let failure = CommandFailure.system("open \(path)")
        guard reason == EACCES, let received = try client.open(item.url).descriptor else {
            throw failure
        }
        (descriptor, programPath) = (received, "/proc/\(getpid())/fd/\(received)")
    }

    deinit {
        close(descriptor)
    }

    /// Closes what is not a regular file. fstat(2).
    private static func check(_ descriptor: Int32, _ path: String) throws(CommandFailure) {
        var file = stat()
        if fstat(descriptor, &file) == 0, file.st_mode & S_IFMT == S_IFREG { return }
        close(descriptor)
        throw CommandFailure(
            status: .inputOutput,
            message: "\(path) is not a regular file; name another daemon with --socket")
    }

    func read() throws -> [UInt8] { try FileBytes.read(descriptor, name: path) }

    /// Writes the bytes to standard output. Throws ``BrokenPipe`` if its reader has closed it.
    func print() throws { try FileBytes.print(descriptor, name: path) }
}
