import CLinux
internal import CacheKey
import Glibc
internal import SystemPackage

/// What strangers did to the directory, told by one inotify watch on it.
///
/// Draining is a single `read(2)` on a non-blocking descriptor, 0.3 µs when nothing happened; so every
/// question can ask first and then believe the index. inotify(7).
struct DirectoryWatch: ~Copyable, @unchecked Sendable {
    // Unchecked: the buffer is owned by this value alone, and lent to nobody.

    /// Readable when something happened.
    let descriptor: Int32
    private let buffer: UnsafeMutableRawBufferPointer
    private let kernel: Kernel

    private static let mask =
        UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)
        | UInt32(IN_MODIFY) | UInt32(IN_ATTRIB) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_OPEN)
        | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF)

    /// Nothing is to be heard of files without a name: of this cache's own, before they are entries, the
    /// kernel would tell everything, by numbers.
    private static let flags = UInt32(IN_ONLYDIR) | UInt32(IN_EXCL_UNLINK)

    /// Watches the directory from now on; fails where the machine's watches are spent.
    init(_ directory: CacheDirectory) throws(Errno) {
        kernel = directory.kernel
        descriptor = try Self.open(directory)
        // Some 64 events, which are taken in under one hold of a lock.
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

    /// What had happened when somebody began to take it in. What comes meanwhile is left to the next:
    /// strangers may be quicker to open files than this is to hear of it.
    struct Backlog {
        /// Bytes of events; `nil` before the first were read.
        fileprivate var rest: Int?

        var isTaken: Bool { rest ?? 1 <= 0 }

        mutating func end() { rest = 0 }
    }

    /// Hands every change of the backlog there is now to `body`, in order.
    mutating func drain(_ body: (DirectoryChange) -> Void) {
        var backlog = Backlog()
        while !backlog.isTaken { drain(&backlog, body) }
    }

    /// Hands as many changes of a backlog to `body` as the buffer holds, in order. read(2).
    mutating func drain(_ backlog: inout Backlog, _ body: (DirectoryChange) -> Void) {
        guard let count = nextEvents() else { return backlog.end() }
        guard count > 0 else {
            // Events were lost.
            body(.overflowed)
            return backlog.end()
        }
        // Where another event would have had room there was none.
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

    /// Bytes of events that wait. ioctl(2), `FIONREAD`; see inotify(7).
    private var queued: Int {
        var count: Int32 = 0
        return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? Int(count) : .max
    }

    /// Bytes of events now in the buffer; `nil` when there are none, 0 when they can't be had. read(2).
    private func nextEvents() -> Int? {
        do {
            return try kernel.readNow(descriptor, into: buffer)
        } catch {
            return 0
        }
    }

    /// Reads one event; returns its length in bytes.
    ///
    /// - Parameter changing: The name of the partial that changed last. While it is written it changes all
    ///   the time, which is told once.
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
        // NULs fill the field up.
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

    /// What an event means; `nil` for one of no consequence.
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
