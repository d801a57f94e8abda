import CCrypto
import CacheValues

/// A computation of a SHA-256 over bytes that stream past.
///
/// EVP_DigestUpdate(3), EVP_DigestFinal_ex(3).
struct SHA256: ~Copyable {
    private let digest: OpaquePointer

    /// Traps if ``canBeComputed()`` throws.
    init() {
        guard let digest = ccrypto_sha256() else {
            preconditionFailure("no SHA-256: \(String(cString: ccrypto_failure()))")
        }
        self.digest = digest
    }

    /// Throws if libcrypto cannot be loaded.
    static func canBeComputed() throws(CacheError) {
        guard let digest = ccrypto_sha256() else {
            throw CacheError(
                .unsupported, "no digest can be computed: \(String(cString: ccrypto_failure()))")
        }
        ccrypto_free(digest)
    }

    deinit {
        ccrypto_free(digest)
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        let done = ccrypto_update(digest, bytes.baseAddress, bytes.count)
        precondition(done == 1, "libcrypto failed in the middle of a SHA-256")
    }

    /// The digest of all bytes so far. After it, a new computation starts.
    mutating func finish() -> ContentDigest {
        var bytes = SIMD32<UInt8>()
        withUnsafeMutableBytes(of: &bytes) { buffer in
            let done = ccrypto_finish(
                digest, buffer.assumingMemoryBound(to: UInt8.self).baseAddress!)
            precondition(done == 1, "libcrypto failed at the end of a SHA-256")
        }
        return ContentDigest(bytes)
    }
}
