extension ContentDigest {
    /// The digest of bytes in memory.
    package init(of bytes: [UInt8]) {
        var computation = SHA256()
        bytes.withUnsafeBytes { computation.update($0) }
        self = computation.finish()
    }

    package var array: [UInt8] { bytes.indices.map { bytes[$0] } }
}
