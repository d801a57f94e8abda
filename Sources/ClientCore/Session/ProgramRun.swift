import CClient

/// Another program that runs. Its functions never wait.
struct ProgramRun: ~Copyable {
    /// The process is 0 if none runs.
    private var child = cclient_child()
    /// The last line that the program has written to its standard error, once it has ended.
    private(set) var lastError: [UInt8] = []

    /// The last bytes of a program's errors that are read.
    private static let longestErrors = 4096

    deinit {
        // A program that has not ended yet is a zombie after its end, until this process ends.
        var child = child
        var status: Int32 = 0
        guard child.process > 0 else { return }
        _ = cclient_has_ended(&child, &status)
        Self.closeDescriptors(of: child)
    }

    var isRunning: Bool { child.process > 0 }
    /// Becomes readable when the program has ended; -1 if only time can tell.
    var descriptor: Int32 { isRunning ? child.end : -1 }

    /// Starts a program by its path and its arguments. Returns 0 or an errno.
    mutating func start(_ words: [[UInt8]]) -> Int32 {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { word in
            (word + [0]).withUnsafeBufferPointer { $0.baseAddress.flatMap { strdup(cString($0)) } }
        }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        guard let program = arguments[0] else { return ENOMEM }
        let result = arguments.withUnsafeBufferPointer { words in
            words.baseAddress.map { cclient_spawn(program, $0, &child) } ?? ENOMEM
        }
        if result != 0 { child.process = 0 }
        return result
    }

    /// The exit status once the program has ended; 128 and more for a signal, -1 if nobody knows.
    mutating func status() -> Int32? {
        var status: Int32 = 0
        guard isRunning, cclient_has_ended(&child, &status) != 0 else { return nil }
        lastError = takeErrors()
        Self.closeDescriptors(of: child)
        child.process = 0
        return status
    }

    private func takeErrors() -> [UInt8] {
        var text: [UInt8] = []
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.longestErrors) { room in
            while true {
                let count = read(child.errors, room.baseAddress, room.count)
                guard count > 0 else { return }
                text = Array((text + room.prefix(count)).suffix(Self.longestErrors))
            }
        }
        return text.split(separator: UInt8(ascii: "\n")).last.map { Array($0) } ?? []
    }

    private static func closeDescriptors(of child: cclient_child) {
        close(child.errors)
        if child.end >= 0 { close(child.end) }
    }
}
