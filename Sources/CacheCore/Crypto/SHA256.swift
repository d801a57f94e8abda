import CCrypto

/// A SHA-256 computed while bytes stream by. One owner at a time; freed with it.
///
/// EVP_DigestUpdate(3), EVP_DigestFinal_ex(3).
struct SHA256: ~Copyable {
    private let digest: OpaquePointer

    /// Only where one ``canBeComputed()``.
    init() {
        guard let digest = ccrypto_sha256() else {
            preconditionFailure("no SHA-256: \(String(cString: ccrypto_failure()))")
        }
        self.digest = digest
    }

    /// Fails when libcrypto cannot be loaded.
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

    /// The digest of all bytes so far; a new computation starts after it.
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
