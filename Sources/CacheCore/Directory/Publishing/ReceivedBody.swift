/// Where the bytes of an image are while they arrive.
enum ReceivedBody {
    /// In memory: all bytes so far.
    case bytes([UInt8])
    /// In its partial.
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
