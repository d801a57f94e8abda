import ArgumentParser
import CLinux
import Glibc

/// `first-unlink`: the time from a memory pressure event until the first file is removed.
struct FirstUnlink: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a byte into a FIFO; print the time until a file in a directory is removed."
    )

    @Option(help: "The FIFO the daemon watches.")
    var fifo: String

    @Option(help: "The daemon's directory.")
    var directory: String

    /// The timeout in milliseconds.
    private static let patience: Int32 = 10_000

    /// open(2), write(2), poll(2).
    func run() throws {
        let watch = try watchDirectory()
        let writer = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        guard writer >= 0 else { throw BenchFailure("no process reads \(fifo)", errno: errno) }
        var byte: UInt8 = 1
        let start = Monotonic.nanoseconds()
        guard write(writer, &byte, 1) == 1 else { throw BenchFailure("write", errno: errno) }
        var event = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
        guard poll(&event, 1, Self.patience) == 1 else {
            throw BenchFailure("no file was removed within \(Self.patience / 1000) seconds")
        }
        let milliseconds = Double(Monotonic.nanoseconds() - start) / 1e6
        print("{\"milliseconds\":\(milliseconds)}")
    }

    /// inotify_init1(2), inotify_add_watch(2).
    private func watchDirectory() throws -> Int32 {
        let watch = inotify_init1(Int32(IN_CLOEXEC))
        guard watch >= 0, inotify_add_watch(watch, directory, UInt32(IN_DELETE)) >= 0 else {
            throw BenchFailure("cannot watch \(directory)", errno: errno)
        }
        return watch
    }
}
