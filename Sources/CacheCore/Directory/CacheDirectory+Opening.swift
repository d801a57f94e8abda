import CLinux
import Glibc
internal import SystemPackage

/// Making, opening and tagging the directory.
extension CacheDirectory {
    private static let tagName = "CACHEDIR.TAG"
    /// The first line by which backup programs recognise a cache (bford.info/cachedir).
    private static let tag = """
        Signature: 8a477f597d28d172789f06886806bc55
        # This directory is the image cache of `cached`. Backups may leave it out.

        """

    /// Makes the directory and those above it.
    static func make(_ path: String, mode: mode_t, _ kernel: Kernel) throws(CacheError) {
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw CacheError(
                .directoryUnusable, "the cache directory must be an absolute path, not \(path)")
        }
        var parents = ""
        for component in path.split(separator: "/") {
            parents += "/" + component
            do {
                try kernel.makeDirectory(parents, mode: mode)
            } catch .fileExists, .isDirectory {
                continue
            } catch .readOnlyFileSystem where parents != path {
                continue
            } catch {
                throw unusable("make", parents, error)
            }
        }
    }

    /// Makes the directory itself, if its parent exists.
    static func makeLast(
        _ path: String, mode: mode_t, _ kernel: Kernel
    ) throws(CacheError) {
        do {
            try kernel.makeDirectory(path, mode: mode)
        } catch .fileExists {
            return
        } catch {
            throw unusable("make", path, error)
        }
    }

    /// A directory that is open, locked and tagged. Its owner closes both descriptors.
    struct Opened {
        let directory: Int32
        let lock: Int32
        let facts: Facts

        init(_ path: String, _ kernel: Kernel) throws(CacheError) {
            // The caller of an initialiser that throws has nothing to close.
            directory = try CacheDirectory.open(path, kernel)
            do {
                lock = try CacheDirectory.lock(path, directory, kernel)
            } catch {
                CacheDirectory.release(directory)
                throw error
            }
            do {
                let isTagged = try CacheDirectory.writeTag(directory, kernel, path: path)
                let status = try CacheDirectory.status(of: directory, path, kernel)
                try CacheDirectory.synchronizeNames(directory, path, kernel)
                facts = Facts(
                    identity: Identity(status),
                    records: CacheDirectory.keepsAttributes(lock, kernel)
                        ? AttributeRecords.self : MemoryRecords.self,
                    makesUnnamedFiles: CacheDirectory.makesUnnamedFiles(
                        directory, on: status.st_dev, kernel),
                    isTagged: isTagged)
            } catch {
                CacheDirectory.release(directory)
                CacheDirectory.release(lock)
                throw error
            }
        }
    }

    private static func status(
        of directory: Int32, _ path: String, _ kernel: Kernel
    ) throws(CacheError) -> stat {
        try attempt("read", path) { () throws(Errno) in try kernel.status(of: directory) }
    }

    private static func open(_ path: String, _ kernel: Kernel) throws(CacheError) -> Int32 {
        try attempt("open", path) { () throws(Errno) in try kernel.openDirectory(path) }
    }

    /// Writes `CACHEDIR.TAG`, unless something has that name already. Returns `false` if the disk is too full,
    /// because existing entries can still be served.
    private static func writeTag(
        _ directory: Int32, _ kernel: Kernel, path: String
    ) throws(CacheError) -> Bool {
        try attempt("write to", path) { () throws(Errno) in
            do throws(Errno) {
                let file = try kernel.open(
                    tagName, in: directory, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
                defer { close(file) }
                try fillTag(file, in: directory, kernel)
                return true
            } catch .fileExists {
                return true
            } catch  where error.isFullDisk {
                return false
            }
        }
    }

    static let lacksTag = """
        CACHEDIR.TAG could not be written because the disk is full, so backups may include the cache; \
        free some space, and the next start writes it
        """

    /// Writes `CACHEDIR.TAG` again if somebody has removed it. The start reports a directory in which that fails.
    func restoreTag() {
        guard isInPlace else { return }
        do {
            _ = try Self.writeTag(descriptor, kernel, path: path)
        } catch {
            return
        }
    }

    /// Writes the text of the tag. An empty tag is removed, because a later start would not write it again.
    private static func fillTag(
        _ file: Int32, in directory: Int32, _ kernel: Kernel
    ) throws(Errno) {
        do {
            try kernel.write(tag, to: file)
        } catch {
            try kernel.unlink(tagName, in: directory)
            throw error
        }
    }

    /// Makes names durable that a daemon gave just before it was killed, because their images will be called
    /// cached.
    private static func synchronizeNames(
        _ directory: Int32, _ path: String, _ kernel: Kernel
    ) throws(CacheError) {
        try attempt("write to", path) { () throws(Errno) in
            try kernel.synchronizeNames(in: directory)
        }
    }

    /// Tries to set an attribute of the lock file. tmpfs before Linux 6.6, vfat and others keep none.
    private static func keepsAttributes(_ file: Int32, _ kernel: Kernel) -> Bool {
        do {
            try kernel.setAttribute("user.cached.probe", "1", of: file)
            return true
        } catch {
            return error != .notSupported
        }
    }

    // MARK: Errors

    /// Runs `body`. Its error becomes one that says what could not be done to the directory, or to a file of the
    /// daemon in it.
    static func attempt<Result>(
        _ verb: String, _ path: String, file: String? = nil, _ body: () throws(Errno) -> Result
    ) throws(CacheError) -> Result {
        do {
            return try body()
        } catch {
            throw unusable(verb, path, file: file, error)
        }
    }

    static func unusable(
        _ verb: String, _ path: String, file: String? = nil, _ cause: Errno
    ) -> CacheError {
        let isForbidden = cause == .permissionDenied || cause == .notPermitted
        let message =
            if let file {
                "cannot \(verb) \(path)/\(file); remove it, or choose another directory with --directory"
            } else {
                "cannot \(verb) the cache directory \(path); choose another with --directory"
            }
        return CacheError(
            isForbidden ? .notPermitted : .directoryUnusable, message, cause: cause)
    }
}
