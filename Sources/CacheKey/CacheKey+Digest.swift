import CCrypto

extension CacheKey {
    /// 6ba7b811-9dad-11d1-80b4-00c04fd430c8, the URL namespace (RFC 9562 §6.6).
    private static let urlNamespace: [UInt8] = [
        0x6B, 0xA7, 0xB8, 0x11, 0x9D, 0xAD, 0x11, 0xD1,
        0x80, 0xB4, 0x00, 0xC0, 0x4F, 0xD4, 0x30, 0xC8,
    ]

    /// Why no key can be computed on this machine: libcrypto is absent or unusable. `nil` if keys can be computed.
    ///
    /// The first call loads libcrypto, as the first key does.
    public static var obstacle: String? {
        ccrypto_load() == 1 ? nil : String(cString: ccrypto_failure())
    }

    /// Computes the key of a URL from its bytes. The bytes are hashed unchanged, whether or not
    /// they are a valid URL.
    ///
    /// It takes 0.1 µs, because each thread reuses its SHA-1 context. EVP_DigestUpdate(3).
    ///
    /// - Precondition: ``obstacle`` is `nil`. A program that may run without libcrypto looks there first.
    /// - Parameter bytes: the bytes of the URL.
    public init(urlBytes bytes: UnsafeRawBufferPointer) {
        self = withUnsafeTemporaryAllocation(byteCount: 20, alignment: 8) { digest in
            let out = digest.baseAddress!
            let done = ccrypto_sha1(
                Self.urlNamespace, Self.urlNamespace.count, bytes.baseAddress, bytes.count,
                out.assumingMemoryBound(to: UInt8.self))
            guard done == 1 else {
                fatalError("no name can be computed: \(String(cString: ccrypto_failure()))")
            }
            // The upper half of byte 6 is the version, 5. The top two bits of byte 8 are the
            // variant.
            let high = UInt64(bigEndian: out.load(as: UInt64.self))
            let low = UInt64(bigEndian: out.load(fromByteOffset: 8, as: UInt64.self))
            return Self(
                high: high & ~0xF000 | 0x5000,
                low: low & ~(0b11 << 62) | 0b10 << 62)
        }
    }
}
