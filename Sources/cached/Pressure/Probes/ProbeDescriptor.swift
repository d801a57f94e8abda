import Glibc
import SystemPackage

/// Owns the descriptor of a probe. None of its calls blocks.
final class ProbeDescriptor {
    let number: Int32
    private let path: String

    /// Opens a file for `O_RDONLY` or `O_RDWR`. open(2).
    init(_ path: String, _ access: Int32) throws(PressureFailure) {
        self.path = path
        number = open(path, access | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { throw .call("open", path) }
    }

    /// Connects to a listening Unix socket. unix(7).
    init(connectingTo path: String) throws(PressureFailure) {
        self.path = path
        var address = sockaddr_un()
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.utf8.count < room else {
            throw PressureFailure("the socket path \(path) is too long")
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        number = socket(AF_UNIX, kind | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .call("socket", path) }
        let result = withUnsafeBytes(of: &address) { bytes in
            connect(
                number, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                socklen_t(bytes.count))
        }
        // All properties are set, so `deinit` closes the descriptor even if this throws.
        guard result == 0 else { throw .call("connect", path) }
    }

    deinit {
        if number >= 0 { close(number) }
    }

    /// Writes bytes in one piece. write(2).
    func write(_ bytes: [UInt8]) throws(PressureFailure) {
        let count = Glibc.write(number, bytes, bytes.count)
        guard count == bytes.count else {
            throw count < 0
                ? .call("write", path) : PressureFailure("\(path) accepts no more bytes")
        }
    }

    /// Reads at most 4 KiB; `nil` if nothing can be read now. read(2).
    func read() throws(PressureFailure) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(number, &bytes, bytes.count)
        if count >= 0 { return Array(bytes.prefix(count)) }
        guard errno == EAGAIN || errno == EINTR else { throw .call("read", path) }
        return nil
    }

    /// Whether the file has contents that writing would change. A file of the kernel has the size 0, because its
    /// contents are made when they are read. fstat(2), `st_size`.
    func hasBytes() throws(PressureFailure) -> Bool {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw .call("fstat", path) }
        return status.st_size > 0
    }

    /// Reads a pressure file from its beginning. pread(2).
    func totals() throws(PressureFailure) -> StallTotals {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = pread(number, &bytes, bytes.count, 0)
        guard count >= 0 else { throw .call("read", path) }
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        guard let totals = StallTotals(text) else {
            throw PressureFailure("\(path) is not a pressure file")
        }
        return totals
    }
}

extension PressureFailure {
    /// The failure of a system call, with the reason in `errno`.
    static func call(_ name: String, _ path: String) -> PressureFailure {
        PressureFailure("\(name) failed for \(path): \(Errno(rawValue: errno))")
    }
}
