import CLinux
import CacheDisk
import CacheFetching
internal import CacheKey
import CacheValues
import Glibc
internal import SystemPackage

/// Reports what other programs do in the directory: one inotify watch on it.
///
/// Draining is a single read(2) on a non-blocking descriptor, 0.3 µs if nothing happened. So every question can
/// drain first and then trust the index. inotify(7).
struct DirectoryWatch: ~Copyable, @unchecked Sendable {
    // Unchecked: only this value uses the buffer.

    /// Readable if something happened.
    let descriptor: Int32
    private let buffer: UnsafeMutableRawBufferPointer
    private let kernel: Kernel

    private static let mask =
        UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)
        | UInt32(IN_MODIFY) | UInt32(IN_ATTRIB) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_OPEN)
        | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)

    /// `IN_EXCL_UNLINK` leaves out files without a name. Otherwise the kernel would report every write to the
    /// cache's own files before they are entries, with numbers for names.
    private static let flags = UInt32(IN_ONLYDIR) | UInt32(IN_EXCL_UNLINK)

    /// Watches the directory from now on. Fails if the limits on watches are reached.
    init(_ directory: CacheDirectory) throws(Errno) {
        kernel = directory.kernel
        descriptor = try Self.open(directory)
        // Room for some 64 events, which are handled while the cache's lock is held.
        buffer = .allocate(byteCount: 4 * 1024, alignment: 8)
    }

    /// inotify_init1(2), inotify_add_watch(2).
    private static func open(_ directory: CacheDirectory) throws(Errno) -> Int32 {
        let descriptor = try directory.kernel.call(.inotify) {
            inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        }
        do {
            let path = "/proc/self/fd/\(directory.descriptor)"
            _ = try directory.kernel.call(.inotify) {
                inotify_add_watch(descriptor, path, mask | flags)
            }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit {
        buffer.deallocate()
        close(descriptor)
    }

    /// The events that were waiting when draining began. Later events are left for the next time, because other
    /// programs can produce events faster than they are drained.
    struct Backlog {
        /// Bytes of events left to read; `nil` before the first read.
        fileprivate var rest: Int?

        var isTaken: Bool { rest ?? 1 <= 0 }

        mutating func end() { rest = 0 }
    }

    /// Calls `body` with every change that waits now, in order.
    mutating func drain(_ body: (DirectoryChange) -> Void) {
        var backlog = Backlog()
        while !backlog.isTaken { drain(&backlog, body) }
    }

    /// Calls `body` with as many changes of a backlog as the buffer holds, in order. read(2).
    mutating func drain(_ backlog: inout Backlog, _ body: (DirectoryChange) -> Void) {
        guard let count = nextEvents() else { return backlog.end() }
        guard count > 0 else {
            // They can't be read.
            body(.overflowed)
            return backlog.end()
        }
        // If another event had waited, it would have fitted in.
        let isAll = count + Self.largestEvent <= buffer.count
        backlog.rest = isAll ? 0 : backlog.rest.map { $0 - count } ?? queued
        var position = 0
        var changing: UnsafeRawBufferPointer?
        while position < count {
            position += take(at: position, &changing, body)
        }
    }

    /// inotify(7).
    private static let largestEvent = MemoryLayout<inotify_event>.size + Int(NAME_MAX) + 1

    /// Bytes of waiting events. ioctl(2), `FIONREAD`; see inotify(7).
    private var queued: Int {
        var count: Int32 = 0
        return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? Int(count) : .max
    }

    /// Bytes of events now in the buffer; `nil` if there are none, 0 if they can't be read. read(2).
    private func nextEvents() -> Int? {
        do {
            return try kernel.readNow(descriptor, into: buffer)
        } catch {
            return 0
        }
    }

    /// Reads one event; returns its length in bytes.
    ///
    /// - Parameter changing: the name of the partial that changed last. A partial that is being written changes all
    ///   the time, which is reported once.
    private func take(
        at position: Int, _ changing: inout UnsafeRawBufferPointer?,
        _ body: (DirectoryChange) -> Void
    ) -> Int {
        let header = buffer.loadUnaligned(fromByteOffset: position, as: inotify_event.self)
        let headerSize = MemoryLayout<inotify_event>.size
        let length = headerSize + Int(header.len)
        guard header.mask & UInt32(IN_Q_OVERFLOW | IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) == 0
        else {
            body(.overflowed)
            return length
        }
        let field = UnsafeRawBufferPointer(
            rebasing: buffer[(position + headerSize)..<(position + length)])
        if let last = changing, last.elementsEqual(field) {
            guard header.mask & Self.leaving != 0 else { return length }
            changing = nil
        }
        // The field is padded with NULs.
        let end = field.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
        if let name = DirectoryName(UnsafeRawBufferPointer(rebasing: field[..<end])),
            let change = Self.change(of: name, header.mask)
        {
            if case .partialChanged = change { changing = field }
            body(change)
        }
        return length
    }

    private static let leaving = UInt32(IN_DELETE | IN_MOVED_FROM)

    /// The meaning of an event; `nil` if it has none for the cache.
    private static func change(of name: DirectoryName, _ mask: UInt32) -> DirectoryChange? {
        let isOpening = mask & UInt32(IN_OPEN) != 0
        let isLeaving = mask & leaving != 0
        switch name {
        case .partial where isOpening: return nil
        case .partial(let key) where isLeaving: return .partialVanished(key)
        case .partial(let key): return .partialChanged(key)
        case .entry(let key) where isOpening: return .opened(key)
        case .entry(let key) where isLeaving: return .vanished(key)
        case .entry(let key) where mask & UInt32(IN_CREATE) != 0: return .created(key)
        case .entry(let key): return .appeared(key)
        }
    }
}
