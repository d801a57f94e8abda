import CLinux
import Glibc
internal import SystemPackage

/// Locking the directory against a second daemon.
extension CacheDirectory {
    /// Takes the lock of `.lock`, which the kernel releases when the process ends, however it ends. Takes that of
    /// the directory too, because anyone can remove the file. flock(2).
    ///
    /// In a shared cache every user may read the directory, and so lock it. Such a lock does not count, and nobody else
    /// can open `.lock`.
    ///
    /// - Returns: the descriptor of `.lock`.
    static func lock(
        _ path: String, _ directory: Int32, _ kernel: Kernel
    ) throws(CacheError) -> Int32 {
        var file = try openLock(path, directory, kernel)
        do throws(CacheError) {
            // It was open to other users when an earlier version made it.
            if ProcFile.isLockedByStranger(file) {
                close(file)
                try attempt("remove", path, file: ".lock") { () throws(Errno) in
                    try kernel.unlink(".lock", in: directory)
                }
                file = try openLock(path, directory, kernel)
            }
            fchmod(file, 0o600)
            try take(file, of: path) { () throws(Errno) in try kernel.lock(file) }
            try take(directory, of: path) { () throws(Errno) in
                try lockItself(directory, kernel)
            }
            try attempt("write to", path, file: ".lock") { () throws(Errno) in
                try sign(directory, kernel)
            }
            return file
        } catch {
            release(file)
            throw error
        }
    }

    /// Opens `.lock`. Not for writing, because that would keep the file system from being remounted read-only.
    private static func openLock(
        _ path: String, _ directory: Int32, _ kernel: Kernel
    ) throws(CacheError) -> Int32 {
        do {
            return try kernel.open(".lock", in: directory, O_RDONLY | O_CREAT, mode: 0o600)
        } catch {
            throw unlockable(path, directory, kernel, error)
        }
    }

    /// Why `.lock` can't be opened. If it is missing, or can't be seen, the directory is the problem.
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

    /// How long a cleaner may have the directory locked while it looks through it. tmpfiles.d(5)
    private static let patience = Duration.seconds(2)

    /// NFS and some others lock only files that are open for writing. There, the lock of `.lock` is enough.
    private static func lockItself(_ directory: Int32, _ kernel: Kernel) throws(Errno) {
        let deadline = ContinuousClock.now + patience
        while true {
            do {
                return try kernel.lock(directory)
            } catch .wouldBlock where ProcFile.isLockedByStranger(directory) {
                return
            } catch .wouldBlock where ContinuousClock.now < deadline {
                usleep(20_000)
            } catch {
                let unable: [Errno] = [
                    .badFileDescriptor, .invalidArgument, .notSupported, .noLocks,
                ]
                if unable.contains(error) { return }
                throw error
            }
        }
    }

    /// Runs `body`, which locks a file. The error names the process that has it locked.
    private static func take(
        _ file: Int32, of path: String, _ body: () throws(Errno) -> Void
    ) throws(CacheError) {
        do {
            try body()
        } catch .wouldBlock {
            throw CacheError(
                .directoryInUse,
                "the cache directory \(path) is in use by \(holder(ofLock: file)); stop it, or choose "
                    + "another directory with --directory")
        } catch {
            throw unusable("lock", path, error)
        }
    }

    /// Unlocks and closes a file. Closing alone would leave the lock to a child process that has inherited the
    /// descriptor and has not started its program yet. flock(2).
    static func release(_ lock: Int32) {
        clinux_flock(lock, LOCK_UN)
        close(lock)
    }

    /// Writes the id of this process into `.lock`. On a full disk the file stays empty, and still keeps other
    /// daemons out.
    private static func sign(_ directory: Int32, _ kernel: Kernel) throws(Errno) {
        let file = try kernel.open(".lock", in: directory, O_WRONLY)
        defer { close(file) }
        try kernel.truncate(file, to: 0)
        do {
            try kernel.write("\(getpid())\n", to: file)
        } catch  where error.isFullDisk {
            return
        }
    }

    /// The process that has the lock, as in "process 4711": from the kernel, or, if that does not say, from the
    /// file.
    private static func holder(ofLock lock: Int32) -> String {
        let process = ProcFile.holder(ofLock: lock) ?? signer(of: lock)
        return process.map { "process \($0)" } ?? "another process"
    }

    /// The process id that was written into a lock file. pread(2).
    private static func signer(of lock: Int32) -> pid_t? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = pread(lock, &bytes, bytes.count, 0)
        let digits = bytes.prefix(max(count, 0)).prefix { $0 >= 0x30 && $0 <= 0x39 }
        return pid_t(String(decoding: digits, as: UTF8.self))
    }
}
