import CLinux
import Glibc
internal import SystemPackage

/// Making, locking and marking the directory.
extension CacheDirectory {
    private static let tagName = "CACHEDIR.TAG"
    /// The first line every backup program knows a cache by (bford.info/cachedir).
    private static let tag = """
        Signature: 8a477f597d28d172789f06886806bc55
        # This directory is the image cache of `cached`. Backups may leave it out.

        """

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

    /// Makes the directory itself, where its parent is there.
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

    /// A directory that is open, locked and marked. Whoever has it closes both descriptors.
    struct Opened {
        let directory: Int32
        let lock: Int32
        let facts: Facts

        init(_ path: String, _ kernel: Kernel) throws(CacheError) {
            // An initialiser that throws closes what is open by itself.
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
                try CacheDirectory.settle(directory, path, kernel)
                facts = Facts(
                    identity: Identity(status),
                    keepsAttributes: CacheDirectory.keepsAttributes(lock, kernel),
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

    /// Takes `.lock`, which a kernel releases with the process that held it, however that ended; and the
    /// directory itself, as somebody may remove the file.
    private static func lock(
        _ path: String, _ directory: Int32, _ kernel: Kernel
    ) throws(CacheError) -> Int32 {
        // Nothing is left open for writing: it would keep the file system from being made read-only.
        let file: Int32
        do {
            file = try kernel.open(".lock", in: directory, O_RDONLY | O_CREAT, mode: 0o644)
        } catch {
            throw unlockable(path, directory, kernel, error)
        }
        do throws(CacheError) {
            try hold(file, of: path) { () throws(Errno) in try kernel.lock(file) }
            try hold(directory, of: path) { () throws(Errno) in
                try lockItself(directory, kernel)
            }
            try attempt("write to", path, file: ".lock") { () throws(Errno) in
                let pen = try kernel.open(".lock", in: directory, O_WRONLY)
                defer { close(pen) }
                try kernel.truncate(pen, to: 0)
                try sign(pen, kernel)
            }
            return file
        } catch {
            release(file)
            throw error
        }
    }

    /// The directory is to blame where there is no `.lock`, or none can be seen.
    private static func unlockable(
        _ path: String, _ directory: Int32, _ kernel: Kernel, _ cause: Errno
    ) -> CacheError {
        do {
            _ = try kernel.status(of: ".lock", in: directory)
            return unusable("write to", path, file: ".lock", cause)
        } catch .permissionDenied {
            return unusable("look into", path, cause)
        } catch {
            return unusable("write to", path, cause)
        }
    }

    /// NFS and others lock only what is open for writing; there the file has to do.
    private static func lockItself(_ directory: Int32, _ kernel: Kernel) throws(Errno) {
        do {
            try kernel.lock(directory)
        } catch {
            let unable: [Errno] = [.badFileDescriptor, .invalidArgument, .notSupported, .noLocks]
            guard unable.contains(error) else { throw error }
        }
    }

    private static func hold(
        _ lock: Int32, of path: String, _ take: () throws(Errno) -> Void
    ) throws(CacheError) {
        do {
            try take()
        } catch .wouldBlock {
            throw CacheError(
                .directoryInUse,
                "the cache directory \(path) is in use by \(holder(of: lock)); stop it, or choose another "
                    + "directory with --directory")
        } catch {
            throw unusable("lock", path, error)
        }
    }

    /// Gives the lock back for good: closing alone would leave it to a child process that inherited it and
    /// has not begun its program yet. flock(2).
    static func release(_ lock: Int32) {
        clinux_flock(lock, LOCK_UN)
        close(lock)
    }

    /// Writes into the lock who holds it. On a full disk it stays empty, and keeps others out all the same.
    private static func sign(_ lock: Int32, _ kernel: Kernel) throws(Errno) {
        do {
            try kernel.write("\(getpid())\n", to: lock)
        } catch  where error.isFullDisk {
            return
        }
    }

    /// "process 4711": the kernel knows who took the lock, and where it does not tell, the holder itself has
    /// written it down.
    private static func holder(of lock: Int32) -> String {
        let process = ProcFile.holder(ofLock: lock) ?? processNoted(in: lock)
        return process.map { "process \($0)" } ?? "another process"
    }

    /// pread(2).
    private static func processNoted(in lock: Int32) -> pid_t? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = pread(lock, &bytes, bytes.count, 0)
        let digits = bytes.prefix(max(count, 0)).prefix { $0 >= 0x30 && $0 <= 0x39 }
        return pid_t(String(decoding: digits, as: UTF8.self))
    }

    /// Writes `CACHEDIR.TAG` unless something of that name is there already; `false` if the disk is too
    /// full for it, which is no reason not to serve what is there.
    private static func writeTag(
        _ directory: Int32, _ kernel: Kernel, path: String
    ) throws(CacheError) -> Bool {
        try attempt("write to", path) { () throws(Errno) in
            do throws(Errno) {
                let file = try kernel.open(
                    tagName, in: directory, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
                defer { close(file) }
                try fill(file, in: directory, kernel)
                return true
            } catch .fileExists {
                return true
            } catch  where error.isFullDisk {
                return false
            }
        }
    }

    /// A tag without its text would never be written again.
    private static func fill(
        _ file: Int32, in directory: Int32, _ kernel: Kernel
    ) throws(Errno) {
        do {
            try kernel.write(tag, to: file)
        } catch {
            try kernel.unlink(tagName, in: directory)
            throw error
        }
    }

    /// Makes durable what a daemon renamed just before it was killed: it will be called cached.
    private static func settle(
        _ directory: Int32, _ path: String, _ kernel: Kernel
    ) throws(CacheError) {
        do {
            try kernel.synchronizeNames(in: directory)
        } catch {
            throw unusable("write to", path, error)
        }
    }

    /// Tries an attribute on the lock file: tmpfs before Linux 6.6, vfat and others keep none.
    private static func keepsAttributes(_ file: Int32, _ kernel: Kernel) -> Bool {
        do {
            try kernel.setAttribute("user.cached.probe", "1", of: file)
            return true
        } catch {
            return error != .notSupported
        }
    }

    /// Runs `body`; its error becomes one that says what could not be done to the directory, or to a file of
    /// the daemon's own in it.
    static func attempt<Result>(
        _ verb: String, _ path: String, file: String? = nil, _ body: () throws(Errno) -> Result
    ) throws(CacheError) -> Result {
        do {
            return try body()
        } catch {
            throw unusable(verb, path, file: file, error)
        }
    }

    private static func unusable(
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
