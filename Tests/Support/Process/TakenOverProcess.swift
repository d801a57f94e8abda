import CTestSupport
import Glibc

/// A child whose code is in other hands: one of its threads makes the system calls that a test asks for. Only on x86-64.
///
///     let daemon = try TakenOverProcess(process, thread: "transfers")
///     let result = try daemon.call(SYS_mkdir, "/tmp/a", 0o700)   // or the negative error
public final class TakenOverProcess {
    private let thread: Int32
    private let memory: Int32
    /// Room for what the arguments point to.
    private var scratch = 0
    private static let room = 1 << 16

    public enum Argument: Sendable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
        case number(Int)
        /// The address of these bytes.
        case bytes([UInt8])

        public init(integerLiteral value: Int) { self = .number(value) }
        public init(stringLiteral value: String) { self = .text(value) }

        public static func text(_ text: String) -> Argument { .bytes(Array(text.utf8) + [0]) }
        public static func flags(_ flags: Int32...) -> Argument {
            .number(Int(flags.reduce(0, |)))
        }
    }

    public init(_ process: ChildProcess, thread name: String) async throws {
        try await waitUntil("\(process.executable) to have a thread named \(name)") {
            try process.thread(named: name) != nil
        }
        thread = try process.thread(named: name) ?? 0
        memory = open("/proc/\(process.pid)/mem", O_RDWR | O_CLOEXEC)
        guard memory >= 0 else { throw TestFailure.syscall("open", "/proc/\(process.pid)/mem") }
        scratch = try call(
            SYS_mmap, 0, .number(Self.room), .flags(PROT_READ, PROT_WRITE),
            .flags(MAP_PRIVATE, MAP_ANONYMOUS), -1, 0)
    }

    deinit { close(memory) }

    /// The address of memory that the process can write.
    public var address: Argument { .number(scratch) }

    /// Makes a system call, given by its number. Returns its result, or the negative error.
    @discardableResult
    public func call(_ number: Int32, _ arguments: Argument...) throws -> Int {
        var end = scratch
        var words: [Int] = []
        for argument in arguments {
            switch argument {
            case .number(let number): words.append(number)
            case .bytes(let bytes):
                guard pwrite(memory, bytes, bytes.count, off_t(end)) == bytes.count else {
                    throw TestFailure.syscall("pwrite", "the memory of a process")
                }
                words.append(end)
                end += (bytes.count + 15) & ~15
            }
        }
        words += Array(repeating: 0, count: 6 - words.count)
        var result = 0
        guard ctest_call_inside(thread, Int(number), words, &result) == 0 else {
            throw TestFailure.syscall("ptrace", "thread \(thread)")
        }
        return result
    }
}
