import CCrypto
import Glibc
import NIOPosix

/// The SHA-256 of a file.
enum FileDigest {
    /// Where files are read, because a disk can be slow.
    static let thread: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 1)
        pool.start()
        return pool
    }()

    /// 64 hexadecimal digits; `nil` if the file cannot be read. It closes the file. read(2).
    static func of(_ descriptor: Int32) -> String? {
        defer { close(descriptor) }
        guard let digest = ccrypto_sha256() else { return nil }
        defer { ccrypto_free(digest) }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            guard ccrypto_update(digest, buffer, count) == 1 else { return nil }
        }
        var bytes = [UInt8](repeating: 0, count: 32)
        guard ccrypto_finish(digest, &bytes) == 1 else { return nil }
        return Signature.hexadecimal(bytes)
    }
}
