/// Where the bytes of an image are, from the first one that arrives until the image is an entry.
enum ImageBody: Sendable {
    /// In memory, all of them.
    case bytes([UInt8])
    case file(StagingFile)

    var file: StagingFile? {
        if case .file(let file) = self { file } else { nil }
    }

    /// Adds bytes in memory. Returns `false` if the body is in a file, or would become longer than `limit`.
    mutating func held(_ more: UnsafeRawBufferPointer, atMost limit: Int) -> Bool {
        guard case .bytes(var bytes) = self, bytes.count + more.count <= limit else { return false }
        // The array is copied if anything else still holds it when it grows.
        self = .bytes([])
        bytes.append(contentsOf: more)
        self = .bytes(bytes)
        return true
    }
}
