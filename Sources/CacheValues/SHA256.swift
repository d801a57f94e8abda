internal import CCrypto

/// A computation of a SHA-256 over bytes that stream past.
///
/// EVP_DigestUpdate(3), EVP_DigestFinal_ex(3).
package struct SHA256: ~Copyable {
    private let digest: OpaquePointer

    /// Traps if libcrypto cannot be loaded, see ``CacheKey/obstacle``.
    package init() {
        guard let digest = ccrypto_sha256() else {
            preconditionFailure("no SHA-256: \(String(cString: ccrypto_failure()))")
        }
        self.digest = digest
    }

    deinit {
        ccrypto_free(digest)
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        let done = ccrypto_update(digest, bytes.baseAddress, bytes.count)
        precondition(done == 1, "libcrypto failed in the middle of a SHA-256")
    }

    /// The digest of all bytes so far. After it, a new computation starts.
    package mutating func finish() -> ContentDigest {
        var bytes = SIMD32<UInt8>()
        withUnsafeMutableBytes(of: &bytes) { buffer in
            let done = ccrypto_finish(
                digest, buffer.assumingMemoryBound(to: UInt8.self).baseAddress!)
            precondition(done == 1, "libcrypto failed at the end of a SHA-256")
        }
        return ContentDigest(bytes)
    }
}
