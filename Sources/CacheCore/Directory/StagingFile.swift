internal import CacheKey
import Glibc
internal import SystemPackage

/// A download growing in `NAME.part`, open for writing; closed when the last owner lets go.
///
/// Closing keeps the partial in the directory: only ``CacheDirectory/discardPartial(of:)`` removes it.
final class StagingFile: Sendable {
    let key: CacheKey
    let descriptor: Int32
    private let kernel: Kernel

    init(key: CacheKey, descriptor: Int32, kernel: Kernel) {
        self.key = key
        self.descriptor = descriptor
        self.kernel = kernel
    }

    deinit {
        close(descriptor)
    }

    /// Appends bytes as they arrive. write(2).
    func append(_ bytes: UnsafeRawBufferPointer) throws(Errno) {
        try kernel.write(bytes, to: descriptor)
    }
}

extension CacheDirectory {
    /// Starts a new partial. What lay under its name is unlinked, never written to: it may be a link.
    func stage(_ key: CacheKey) throws(Errno) -> StagingFile {
        let name = Self.partialName(of: key)
        let descriptor: Int32
        do {
            descriptor = try create(name)
        } catch .fileExists {
            try discardPartial(of: key)
            descriptor = try create(name)
        }
        let file = StagingFile(key: key, descriptor: descriptor, kernel: kernel)
        try kernel.setMode(0o644, of: descriptor)
        return file
    }

    private func create(_ name: String) throws(Errno) -> Int32 {
        try kernel.open(name, in: descriptor, O_RDWR | O_CREAT | O_EXCL, mode: 0o644)
    }
}
