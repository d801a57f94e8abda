import CClient

/// Puts a file into the cache by `cachectl import`, which it runs and which needs no daemon. It never waits, but in
/// ``wait(_:)``.
public struct ImportRun: ~Copyable {
    private var run = ProgramRun()
    private var result: Int32?

    public init(_ url: [UInt8], _ file: [UInt8], _ place: DaemonPlace) {
        let isReadable = (file + [0]).withUnsafeBufferPointer { path in
            path.baseAddress.map { access(cString($0), R_OK) == 0 } ?? false
        }
        guard isReadable else {
            result = -cclient_errno()
            return
        }
        let error = place.importCommand(url, file).map { run.start($0) } ?? ENOENT
        if error != 0 { result = -error }
    }

    /// 0 or a negative errno once the program has ended. sysexits(3head)
    public mutating func outcome() -> Int32? {
        if let result { return result }
        switch run.status() {
        case nil: return nil
        case 0?: result = 0
        case 64?, 65?: result = -EINVAL
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
