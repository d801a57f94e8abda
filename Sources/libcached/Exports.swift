import CCached
import CClient

#if canImport(ClientCore)
    import ClientCore
#endif

/// The functions of `cached.h`.
private final class Handle {
    var folder: Folder
    let session: Session
    let sockets: [[UInt8]]
    /// Texts of the last ``cachedPeek(_:_:_:)``.
    var url: [UInt8] = []

    init(_ directory: [UInt8], _ sockets: [[UInt8]]) {
        folder = Folder(directory)
        session = Session(sockets: sockets)
        self.sockets = sockets
    }
}

private func handle(_ cached: OpaquePointer) -> Handle {
    Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(cached)).takeUnretainedValue()
}

private func pointer(_ text: StaticString) -> UnsafePointer<CChar> {
    UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

/// The longest URL that the daemon takes, in bytes.
private let longestURL = 8192

/// Copies as much of an image as the caller has room for.
private func store(_ image: cached_image, in room: UnsafeMutablePointer<cached_image>) -> Bool {
    let length = room.pointee.length
    guard length >= MemoryLayout<size_t>.size else { return false }
    var image = image
    image.length = length
    memcpy(room, &image, min(length, MemoryLayout<cached_image>.size))
    return true
}

@c(cached_open)
public func cachedOpen(
    _ directory: UnsafePointer<CChar>?, _ socket: UnsafePointer<CChar>?
) -> OpaquePointer? {
    let handle = Handle(
        Places.directory(directory.map { Places.bytes($0) }),
        Places.sockets(socket.map { Places.bytes($0) }))
    guard handle.session.isUsable else { return nil }
    return OpaquePointer(Unmanaged.passRetained(handle).toOpaque())
}

@c(cached_set_patience)
public func cachedSetPatience(_ cached: OpaquePointer, _ milliseconds: Int32) {
    handle(cached).session.patience = Int64(max(milliseconds, 0))
}

@c(cached_close)
public func cachedClose(_ cached: OpaquePointer?) {
    guard let cached else { return }
    Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(cached)).release()
}

@c(cached_name)
public func cachedName(_ url: UnsafePointer<CChar>, _ name: UnsafeMutablePointer<CChar>) {
    let bytes = UnsafeRawBufferPointer(start: url, count: strlen(url))
    ImageName(url: bytes).write(
        to: UnsafeMutableRawPointer(name).assumingMemoryBound(to: UInt8.self))
    name[ImageName.length] = 0
}

@c(cached_peek)
public func cachedPeek(
    _ cached: OpaquePointer, _ url: UnsafePointer<CChar>, _ room: UnsafeMutablePointer<cached_image>
) -> Int32 {
    let handle = handle(cached)
    let length = strlen(url)
    var image = cached_image()
    image.url = url
    if length > longestURL {
        refuse(&image, "invalidURL", "the URL is longer than 8,192 bytes; shorten it")
    } else {
        do throws(FolderFailure) {
            let name = ImageName(url: UnsafeRawBufferPointer(start: url, count: length))
            describe(try handle.folder.look(name), handle, &image)
        } catch {
            refuse(&image, error.kind, error.message)
        }
    }
    return store(image, in: room) ? image.state : -EINVAL
}

private func describe(_ found: FolderImage, _ handle: Handle, _ image: inout cached_image) {
    (image.received, image.total) = (found.received, found.total)
    (image.width, image.height) = (found.width, found.height)
    switch found.state {
    case .missing, .interrupted: image.state = Event.State.missing.rawValue
    case .inFlight: image.state = Event.State.inFlight.rawValue
    case .cached:
        image.state = Event.State.cached.rawValue
        image.path = handle.folder.lastPath
        if found.type != .other { image.media_type = pointer(found.type.literal) }
    }
}

private func refuse(_ image: inout cached_image, _ kind: StaticString, _ message: StaticString) {
    image.state = Event.State.failed.rawValue
    image.total = -1
    (image.kind, image.message) = (pointer(kind), pointer(message))
}

@c(cached_want)
public func cachedWant(
    _ cached: OpaquePointer, _ urls: UnsafePointer<UnsafePointer<CChar>?>?,
    _ priorities: UnsafePointer<Int32>?, _ count: Int
) -> Int32 {
    let session = handle(cached).session
    guard session.isOwners else { return -EPERM }
    var images: [(url: [UInt8], priority: WantedPriority)] = []
    for index in 0..<count {
        guard let url = urls?[index],
            let priority = WantedPriority(rawValue: priorities?[index] ?? 1)
        else { return -EINVAL }
        images.append((Places.bytes(url), priority))
    }
    session.want(images)
    return 0
}

@c(cached_fd)
public func cachedFd(_ cached: OpaquePointer) -> Int32 { handle(cached).session.descriptor }

@c(cached_next)
public func cachedNext(
    _ cached: OpaquePointer, _ room: UnsafeMutablePointer<cached_image>
) -> Int32 {
    let session = handle(cached).session
    guard session.isOwners else { return -EPERM }
    let result = session.next { event, texts -> Int32 in
        func text(_ start: Int?) -> UnsafePointer<CChar>? {
            guard let start, let base = texts.baseAddress else { return nil }
            return UnsafeRawPointer(base + start).assumingMemoryBound(to: CChar.self)
        }
        var image = cached_image()
        image.state = event.state.rawValue
        (image.received, image.total) = (event.received, event.total)
        (image.width, image.height) = (event.width, event.height)
        (image.http_status, image.retry_at) = (event.httpStatus, event.retryAt)
        (image.url, image.path) = (text(event.url), text(event.path))
        image.media_type = text(event.mediaType)
        (image.kind, image.message) = (text(event.kind), text(event.message))
        return store(image, in: room) ? 1 : -EINVAL
    }
    return result ?? 0
}

@c(cached_open_file)
public func cachedOpenFile(_ cached: OpaquePointer, _ url: UnsafePointer<CChar>) -> Int32 {
    let handle = handle(cached)
    let bytes = Places.bytes(url)
    let name = bytes.withUnsafeBytes { ImageName(url: $0) }
    do throws(FolderFailure) {
        let file = try handle.folder.open(name)
        if file >= 0 { return file }
    } catch {
        // The daemon can have another directory, and hands over its own files.
    }
    return SingleCall.open(bytes, handle.sockets)
}

@c(cached_pin)
public func cachedPin(
    _ cached: OpaquePointer, _ url: UnsafePointer<CChar>, _ pinned: Int32
) -> Int32 {
    SingleCall.pin(Places.bytes(url), pinned != 0, handle(cached).sockets)
}

@c(cached_pressure)
public func cachedPressure(_ cached: OpaquePointer) -> Int32 {
    handle(cached).session.pressureLevel()
}
