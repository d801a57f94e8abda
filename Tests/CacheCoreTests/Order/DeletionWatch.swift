import CLinux
import Glibc
import TestSupport

/// Reports the names removed from a directory, in order, from inotify(7) events.
final class DeletionWatch {
    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 256 * 1024)

    init(_ directory: String) throws {
        descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0, inotify_add_watch(descriptor, directory, UInt32(IN_DELETE)) >= 0
        else { throw TestFailure("inotify_add_watch of \(directory) failed") }
    }

    deinit {
        close(descriptor)
    }

    /// The names removed since the last call.
    func take() throws -> [String] {
        var names: [String] = []
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return names }
            var position = 0
            while position < count {
                let (name, length) = try event(at: position)
                names.append(name)
                position += length
            }
        }
    }

    private func event(at position: Int) throws -> (name: String, length: Int) {
        let size = MemoryLayout<inotify_event>.size
        let header = buffer.withUnsafeBytes {
            $0.loadUnaligned(fromByteOffset: position, as: inotify_event.self)
        }
        guard header.mask & UInt32(IN_Q_OVERFLOW) == 0 else {
            throw TestFailure("more names were removed than the kernel keeps")
        }
        let field = buffer[(position + size)..<(position + size + Int(header.len))]
        return (String(decoding: field.prefix { $0 != 0 }, as: UTF8.self), size + Int(header.len))
    }
}
