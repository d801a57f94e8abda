import CLinux
import Glibc
internal import SystemPackage

/// Making, locking and marking the directory.
extension CacheDirectory {
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

    static func open(_ path: String, _ kernel: Kernel) throws(CacheError) -> Int32 {
        try attempt("open", path) { () throws(Errno) in try kernel.openDirectory(path) }
    }

    /// Takes `.lock`, which a kernel releases with the process that held it, however that ended.
    static func lock(
        _ path: String, _ directory: Int32, _ kernel: Kernel
    ) throws(CacheError) -> Int32 {
        let file = try attempt("write to", path) { () throws(Errno) in
            try kernel.open(".lock", in: directory, O_RDWR | O_CREAT, mode: 0o644)
        }
        do {
            try kernel.lock(file)
            try kernel.truncate(file, to: 0)
            try kernel.write("\(getpid())\n", to: file)
            return file
        } catch .wouldBlock {
            let holder = holder(of: file)
            close(file)
            throw CacheError(
                .directoryInUse,
                "the cache directory \(path) is in use by \(holder); stop it, or choose another "
                    + "directory with --directory")
        } catch {
            close(file)
            throw unusable("lock", path, error)
        }
    }

    /// "process 4711", from what the holder wrote into the lock.
    private static func holder(of lock: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = pread(lock, &bytes, bytes.count, 0)
        let digits = bytes.prefix(max(count, 0)).prefix { $0 >= 0x30 && $0 <= 0x39 }
        return digits.isEmpty
            ? "another process" : "process \(String(decoding: digits, as: UTF8.self))"
    }

    /// Writes `CACHEDIR.TAG` unless something of that name is there already.
    static func writeTag(
        _ directory: Int32, _ kernel: Kernel, path: String
    ) throws(CacheError) {
        try attempt("write to", path) { () throws(Errno) in
            let file: Int32
            do throws(Errno) {
                file = try kernel.open(
                    "CACHEDIR.TAG", in: directory, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
            } catch .fileExists {
                return
            }
            defer { close(file) }
            try kernel.write(tag, to: file)
        }
    }

    /// Makes durable what a daemon renamed just before it was killed: it will be called cached. Some
    /// file systems can't sync a directory, and then don't need it. fsync(2).
    static func settle(
        _ directory: Int32, _ path: String, _ kernel: Kernel
    ) throws(CacheError) {
        do {
            try kernel.synchronize(directory)
        } catch .invalidArgument {
            return
        } catch {
            throw unusable("write to", path, error)
        }
    }

    /// Tries an attribute on the lock file: tmpfs before Linux 6.6, vfat and others keep none.
    static func keepsAttributes(_ file: Int32, _ kernel: Kernel) -> Bool {
        do {
            try kernel.setAttribute("user.cached.probe", [UInt8(ascii: "1")], of: file)
            return true
        } catch {
            return error != .notSupported
        }
    }

    /// Runs `body`; its error becomes one that says what could not be done to the directory.
    static func attempt<Result>(
        _ verb: String, _ path: String, _ body: () throws(Errno) -> Result
    ) throws(CacheError) -> Result {
        do {
            return try body()
        } catch {
            throw unusable(verb, path, error)
        }
    }

    private static func unusable(_ verb: String, _ path: String, _ cause: Errno) -> CacheError {
        let isForbidden = cause == .permissionDenied || cause == .notPermitted
        return CacheError(
            isForbidden ? .notPermitted : .directoryUnusable,
            "cannot \(verb) the cache directory \(path); choose another with --directory",
            cause: cause)
    }
}
