import CTestSupport
import Glibc

/// An ext4 or XFS file system of the test's own, in a file; the power of an ext4 can be cut. loop(4)
///
///     let disk = try await LoopFileSystem(bytes: 64 << 20, in: scope)
///     …
///     try disk.cutPower(losing: .everything)
///     try disk.restorePower()      // every process that had it open must have ended
///
/// A disk's own volatile write cache is not simulated: the file that stands for the disk loses
/// nothing.
public struct LoopFileSystem: Sendable {
    /// The reason why this machine can't provide one; `nil` if it can.
    public static var obstacle: String? {
        if let obstacle = SmallFileSystem.obstacle { return obstacle }
        guard access("/dev/loop-control", R_OK | W_OK) == 0 else {
            return "there are no loop devices"
        }
        let tool = try? ChildProcess.locate("mkfs.ext4")
        return tool == nil ? "mkfs.ext4 is not installed" : nil
    }

    /// The data that a power cut loses, of all that was not yet on the disk.
    public enum Loss: UInt32, CaseIterable, Sendable {
        case nothing = 0
        /// The contents of files; the journal still reaches the disk.
        case bytes = 1
        case everything = 2
    }

    private enum Kind: String {
        case ext4, xfs
    }

    /// The mount point; unmounted when the scope ends.
    public let path: String
    private let image: String
    private let kind: Kind

    /// Creates and mounts one. mkfs.ext4(8), mount(8)
    ///
    /// - Parameter blockSize: bytes; also the space for a file's attributes.
    public init(
        bytes: Int, blockSize: Int = 4096, hasJournal: Bool = true, in scope: TestScope
    ) async throws {
        let directory = try TemporaryDirectory(in: scope)
        // In memory if possible: the file system is under test, not the disk below it.
        image = try await SmallFileSystem(bytes: bytes + 1 << 20, in: scope).path + "/image"
        path = try directory.directory("mounted")
        kind = .ext4
        try await runSuccessfully(
            "mkfs.ext4",
            [
                "-q", "-F", "-O", hasJournal ? "has_journal" : "^has_journal", "-b",
                "\(blockSize)", image, "\(bytes >> 10)k",
            ])
        try await mount()
        let path = path
        scope.atEnd { try await runSuccessfully("umount", ["--lazy", path]) }
    }

    /// Creates and mounts an XFS, on which files can share blocks. `nil` if mkfs.xfs(8) is not installed.
    public init?(sharingBlocksIn scope: TestScope) async throws {
        guard Self.obstacle == nil, (try? ChildProcess.locate("mkfs.xfs")) != nil
        else { return nil }
        let directory = try TemporaryDirectory(in: scope)
        // The smallest that mkfs.xfs makes. The file has holes.
        let bytes = 320 << 20
        image = try await SmallFileSystem(bytes: bytes + 1 << 20, in: scope).path + "/image"
        path = try directory.directory("mounted")
        kind = .xfs
        try await runSuccessfully(
            "mkfs.xfs", ["-q", "-m", "reflink=1", "-d", "file,name=\(image),size=\(bytes)"])
        try await mount()
        let path = path
        scope.atEnd { try await runSuccessfully("umount", ["--lazy", path]) }
    }

    /// Cuts the power. Every call on the file system fails until the power is restored.
    public func cutPower(losing loss: Loss) throws {
        guard ctest_shut_down(path, loss.rawValue) == 0 else {
            throw TestFailure.syscall("EXT4_IOC_SHUTDOWN", path)
        }
    }

    /// Mounts it again, which replays the journal. Fails while a process has a file of it open.
    public func restorePower() async throws {
        try await runSuccessfully("umount", [path])
        try await mount()
    }

    /// The loop device is released with the mount. mount(8), "loop device support"
    private func mount() async throws {
        try await runSuccessfully("mount", ["-t", kind.rawValue, "-o", "loop", image, path])
    }
}
