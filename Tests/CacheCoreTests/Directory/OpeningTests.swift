import CLinux
import CacheKey
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

@Suite("Opening the directory", .timeLimit(.minutes(5)))
struct OpeningTests {
    @Test func makesTheDirectoryAndTagsItAsACache() async throws {
        try await withTestScope { scope in
            let place = try TemporaryDirectory(in: scope).file("deeply/nested/cache")
            let directory = try CacheDirectory(path: place, mode: 0o700, kernel: Kernel())
            let tag = String(decoding: try contents(of: place + "/CACHEDIR.TAG"), as: UTF8.self)
            #expect(tag.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
            var status = stat()
            #expect(stat(place, &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o700)
            #expect(directory.records is AttributeRecords)
        }
    }

    @Test func anExistingTagIsLeftAlone() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            try home.write("mine", to: "CACHEDIR.TAG")
            _ = try CacheDirectory(path: home.path, mode: 0o700, kernel: Kernel())
            #expect(try contents(of: home.file("CACHEDIR.TAG")) == Array("mine".utf8))
        }
    }

    @Test func aSecondDaemonIsRefusedAndTheErrorNamesTheFirst() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let error = #expect(throws: CacheError.self) {
                _ = try CacheDirectory(path: folder.path, mode: 0o700, kernel: Kernel())
            }
            #expect(error?.code == .directoryInUse)
            #expect(error?.message.contains("process \(getpid());") == true)
        }
    }

    /// Even before the other process has written its id into the lock file.
    @Test func theErrorNamesAnotherProcess() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let lock = home.file(".lock")
            let script = "echo $$; exec tail -f /dev/null"
            let holder = try ChildProcess(
                "flock", ["--no-fork", lock, "sh", "-c", script], in: scope)
            try await holder.waitForLine(containing: "\(holder.pid)", on: .standardOutput)
            let error = #expect(throws: CacheError.self) {
                _ = try CacheDirectory(path: home.path, mode: 0o700, kernel: Kernel())
            }
            #expect(error?.code == .directoryInUse)
            #expect(error?.message.contains("process \(holder.pid);") == true)
        }
    }

    /// systemd-tmpfiles(8) locks each directory that it cleans.
    @Test func aCleanersLockOfAMomentIsWaitedFor() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let cleaner = try ChildProcess(
                "flock", [home.path, "sh", "-c", "echo cleaning; sleep 0.3"], in: scope)
            try await cleaner.waitForLine(containing: "cleaning", on: .standardOutput)
            let directory = try CacheDirectory(path: home.path, mode: 0o700, kernel: Kernel())
            directory.giveUp()
        }
    }

    /// A program that empties the directory also removes the lock file.
    @Test func theDirectoryStaysLockedWithoutItsLockFile() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let path = home.file("cache")
            let first = try CacheDirectory(path: path, mode: 0o700, kernel: Kernel())
            #expect(unlink(path + "/.lock") == 0)
            let error = #expect(throws: CacheError.self) {
                _ = try CacheDirectory(path: path, mode: 0o700, kernel: Kernel())
            }
            #expect(error?.code == .directoryInUse)
            #expect(error?.message.contains("process \(getpid());") == true)
            first.giveUp()
            _ = try CacheDirectory(path: path, mode: 0o700, kernel: Kernel())
        }
    }

    /// proc_locks(5).
    @Test func theHolderOfALockIsReadFromTheKernelsList() {
        var facts = stat()
        facts.st_dev = gnu_dev_makedev(0xfe, 0x12b)
        facts.st_ino = 131
        let file = ProcFile.FileIdentity(facts)
        let locks = """
            1: POSIX  ADVISORY  WRITE 1 fe:12b:131 0 EOF
            2: FLOCK  ADVISORY  WRITE 2 fe:12b:13 0 EOF
            3: FLOCK  ADVISORY  WRITE 4711 fe:12b:131 0 EOF
            3: -> FLOCK  ADVISORY  WRITE 3 fe:12b:131 0 EOF
            """
        #expect(ProcFile.holder(ofLock: file, in: locks) == 4711)
        #expect(ProcFile.holder(ofLock: file, in: "") == nil)
        #expect(ProcFile.holder(ofLock: file, in: locks.replacing("4711", with: "0")) == nil)
        facts.st_dev = gnu_dev_makedev(8, 1)
        #expect(ProcFile.FileIdentity(facts).description == "08:01:131")
    }

    @Test func aClosedDirectoryCanBeOpenedAgain() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            for _ in 0..<3 {
                _ = try CacheDirectory(path: home.path, mode: 0o700, kernel: Kernel())
            }
        }
    }

    @Test(arguments: [SyscallName.mkdir, .openat, .flock, .ftruncate, .write, .fstat, .fsync])
    func aFailedOpeningLeavesNothingLocked(call: SyscallName) async throws {
        for nth in 1...4 {
            try await withTestScope { scope in
                let home = try TemporaryDirectory(in: scope)
                let plan = FaultPlan(call, nth: nth, .ioError)
                do throws(CacheError) {
                    _ = try CacheDirectory(
                        path: home.path, mode: 0o700, kernel: Kernel(faults: plan))
                    #expect(!plan.hasStruck, "\(call) \(nth) failed unnoticed")
                } catch {
                    #expect(error.code == .directoryUnusable)
                    #expect(error.cause == .ioError)
                    #expect(error.message.contains("/tmp"))
                }
                _ = try CacheDirectory(path: home.path, mode: 0o700, kernel: Kernel())
            }
        }
    }

    /// The first write is the text of the lock file, the second that of the tag.
    @Test(arguments: [Errno.noSpace, .diskQuotaExceeded])
    func theDirectoryOpensOnAFullDisk(errno: Errno) async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            do {
                let kernel = Kernel(faults: FaultPlan(.write, nth: 1, errno))
                let directory = try CacheDirectory(path: home.path, mode: 0o700, kernel: kernel)
                #expect(try contents(of: home.file(".lock")).isEmpty)
                let error = #expect(throws: CacheError.self) {
                    _ = try CacheDirectory(path: home.path, mode: 0o700, kernel: Kernel())
                }
                #expect(error?.message.contains("process \(getpid());") == true)
                #expect(directory.isTagged)
            }
            try #require(unlink(home.file("CACHEDIR.TAG")) == 0)
            for call in [SyscallName.write, .openat] {
                // Before the tag, the directory is opened once and the lock file twice.
                let plan = FaultPlan(call, nth: call == .write ? 2 : 4, errno)
                let directory = try CacheDirectory(
                    path: home.path, mode: 0o700, kernel: Kernel(faults: plan))
                #expect(!directory.isTagged)
                #expect(access(home.file("CACHEDIR.TAG"), F_OK) != 0)
            }
            #expect(try CacheDirectory(path: home.path, mode: 0o700, kernel: Kernel()).isTagged)
        }
    }

    @Test func aRelativePathIsRefused() {
        let error = #expect(throws: CacheError.self) {
            _ = try CacheDirectory(path: "cache", mode: 0o700, kernel: Kernel())
        }
        #expect(error?.code == .directoryUnusable)
    }

    @Test func aFileInPlaceOfTheDirectoryIsRefused() async throws {
        try await withTestScope { scope in
            let file = try TemporaryDirectory(in: scope).write("x", to: "cache")
            let error = #expect(throws: CacheError.self) {
                _ = try CacheDirectory(path: file, mode: 0o700, kernel: Kernel())
            }
            #expect(error?.code == .directoryUnusable)
            #expect(error?.message.contains("--directory") == true)
        }
    }

    @Test func aMissingPermissionIsReportedAsNotPermitted() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let plan = FaultPlan(.openat, nth: 2, .permissionDenied)
            let error = #expect(throws: CacheError.self) {
                _ = try CacheDirectory(
                    path: home.path, mode: 0o700, kernel: Kernel(faults: plan))
            }
            #expect(error?.code == .notPermitted)
        }
    }

    @Test func aMovedDirectoryIsNoticed() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            #expect(folder.directory.isInPlace)
            #expect(rename(folder.path, folder.path + "-moved") == 0)
            #expect(!folder.directory.isInPlace)
            #expect(mkdir(folder.path, 0o700) == 0)
            #expect(!folder.directory.isInPlace)
            #expect(rmdir(folder.path) == 0)
            #expect(rename(folder.path + "-moved", folder.path) == 0)
            #expect(folder.directory.isInPlace)
        }
    }
}
