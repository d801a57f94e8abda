import CTestSupport
import Glibc

/// An ext4 of the test's own, in a file, whose power can be cut. loop(4)
///
///     let disk = try await LoopFileSystem(bytes: 64 << 20, in: scope)
///     …
///     try disk.cutPower(losing: .everything)
///     try await disk.restorePower()      // everybody who had it open has to be gone
///
/// What a disk itself keeps in a volatile cache is not part of it: the file that stands for the disk loses
/// nothing.
public struct LoopFileSystem: Sendable {
    /// Why there can be none here; `nil` if there can.
    public static var obstacle: String? {
        if let obstacle = SmallFileSystem.obstacle { return obstacle }
        guard access("/dev/loop-control", R_OK | W_OK) == 0 else {
            return "there are no loop devices"
        }
        let tool = try? ChildProcess.locate("mkfs.ext4")
        return tool == nil ? "mkfs.ext4 is not installed" : nil
    }

    /// What a power cut takes, of all that was not yet on the disk.
    public enum Loss: UInt32, CaseIterable, Sendable {
        case nothing = 0
        /// The journal still gets to the disk, the bytes of files do not.
        case bytes = 1
        case everything = 2
    }

    /// Where it is mounted; gone when the scope ends.
    public let path: String
    private let image: String

    /// Makes and mounts one. mkfs.ext4(8), mount(8)
    ///
    /// - Parameter blockSize: bytes; also what a file's attributes have room in.
    public init(
        bytes: Int, blockSize: Int = 4096, hasJournal: Bool = true, in scope: TestScope
    ) async throws {
        let directory = try TemporaryDirectory(in: scope)
        // In memory where there is room: what is tested is the file system, not the disk below it.
        image = try await SmallFileSystem(bytes: bytes + 1 << 20, in: scope).path + "/image"
        path = try directory.directory("mounted")
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

    /// Cuts the power: from here on every call on it fails, until it is restored.
    public func cutPower(losing loss: Loss) throws {
        guard ctest_shut_down(path, loss.rawValue) == 0 else {
            throw TestFailure.syscall("EXT4_IOC_SHUTDOWN", path)
        }
    }

    /// Mounts it again, which replays the journal. Fails while somebody has a file of it open.
    public func restorePower() async throws {
        try await runSuccessfully("umount", [path])
        try await mount()
    }

    /// The loop device goes with the mount. mount(8), "loop device support"
    private func mount() async throws {
        try await runSuccessfully("mount", ["-t", "ext4", "-o", "loop", image, path])
    }
}
