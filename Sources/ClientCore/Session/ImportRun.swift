import CClient

/// Puts a file into the cache by `cachectl import`, which it runs. Its functions never wait.
public struct ImportRun: ~Copyable {
    private var run = ProgramRun()
    private var result: Int32?

    public init(_ url: [UInt8], _ file: [UInt8], _ place: DaemonPlace) {
        guard let program = DaemonPlace.program("cachectl") else {
            result = -ENOENT
            return
        }
        var words = [program, StaticText.bytes("import")]
        if place.sockets.count == 1 { words += [StaticText.bytes("--socket"), place.sockets[0]] }
        let error = run.start(words + [StaticText.bytes("--"), url, file])
        if error != 0 { result = -error }
    }

    /// 0 or a negative errno once the program has ended. sysexits(3head)
    public mutating func outcome() -> Int32? {
        if let result { return result }
        switch run.status() {
        case nil: return nil
        case 0?: result = 0
        case 64?, 65?: result = -EINVAL
        case 66?: result = -ENOENT
        case 69?: result = -ECONNREFUSED
        case 77?: result = -EPERM
        case 1?: result = -EBADMSG
        default: result = -EIO
        }
        return result
    }

    /// Waits for the end of the program, for so many milliseconds at most.
    public func wait(_ milliseconds: Int32) {
        _ = cclient_wait(run.descriptor, 0, milliseconds)
    }
}
