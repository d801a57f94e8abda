internal import CClient

/// A file that is open for reading. It is closed when the value is destroyed.
public struct OpenFile: ~Copyable {
    public let descriptor: Int32

    deinit {
        close(descriptor)
    }

    /// Bytes of the file. fstat(2).
    public var size: Int {
        var file = cclient_file()
        return cclient_look_at(descriptor, &file) == 0 ? Int(file.size) : 0
    }

    /// Gives the descriptor away. The caller closes it.
    public consuming func take() -> Int32 {
        let descriptor = descriptor
        discard self
        return descriptor
    }
}
