import CCached
import CClient

#if canImport(ClientCore)
    import ClientCore
#endif

// The functions of cached.h.

private func bytes(_ text: UnsafePointer<CChar>?) -> [UInt8]? { text.map { Places.bytes($0) } }

private func open(_ handle: Handle) -> OpaquePointer? {
    guard handle.session.isUsable else { return nil }
    return OpaquePointer(Unmanaged.passRetained(handle).toOpaque())
}

@c(cached_open)
public func cachedOpen(
    _ directory: UnsafePointer<CChar>?, _ socket: UnsafePointer<CChar>?
) -> OpaquePointer? {
    let (directory, socket) = (bytes(directory), bytes(socket))
    return open(
        Handle(
            Places.directory(directory, socket: socket),
            DaemonPlace(directory: directory, socket: socket)))
}

@c(cached_set_patience)
public func cachedSetPatience(_ cached: OpaquePointer, _ milliseconds: Int32) {
    handle(cached).session.patience = Int64(max(milliseconds, 0))
}

@c(cached_set_start)
public func cachedSetStart(_ cached: OpaquePointer, _ start: Int32) {
    let session = handle(cached).session
    session.place = session.place.starting(start != 0)
}

@c(cached_is_available)
public func cachedIsAvailable(_ cached: OpaquePointer) -> Int32 {
    let handle = handle(cached)
    return handle.script != nil || handle.session.place.isAvailable ? 1 : 0
}

@c(cached_close)
public func cachedClose(_ cached: OpaquePointer?) {
    guard let cached else { return }
    Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(cached)).release()
}

@c(cached_name)
public func cachedName(_ url: UnsafePointer<CChar>, _ name: UnsafeMutablePointer<CChar>) {
    imageName(url).write(to: UnsafeMutableRawPointer(name).assumingMemoryBound(to: UInt8.self))
    name[ImageName.length] = 0
}

private func imageName(_ url: UnsafePointer<CChar>) -> ImageName {
    ImageName(url: UnsafeRawBufferPointer(start: url, count: strlen(url)))
}

// MARK: - Asking

@c(cached_peek)
public func cachedPeek(
    _ cached: OpaquePointer, _ url: UnsafePointer<CChar>, _ room: UnsafeMutablePointer<cached_image>
) -> Int32 {
    let image = peek(url, handle(cached), standIn: wantsStandIn(room))
    return store(image, in: room) ? image.state : -EINVAL
}

/// The state of an image in the directory, or in the script.
private func peek(_ url: UnsafePointer<CChar>, _ handle: Handle, standIn: Bool) -> cached_image {
    guard let script = handle.script else { return look(url, handle, standIn: standIn).0 }
    if let found = script.withState(of: imageName(url), { image($0, $1) }) { return found }
    var missing = cached_image()
    (missing.url, missing.total) = (url, -1)
    return missing
}

@c(cached_status)
public func cachedStatus(
    _ cached: OpaquePointer, _ urls: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int,
    _ images: UnsafeMutablePointer<cached_image>?
) -> Int32 {
    guard count > 0 else { return count == 0 ? 0 : -EINVAL }
    guard let urls, let images, (0..<count).allSatisfy({ urls[$0] != nil }) else { return -EINVAL }
    let handle = handle(cached)
    let (start, stride) = (UnsafeMutableRawPointer(images), images.pointee.length)
    var isRight = true
    func put(_ image: cached_image, _ number: Int) {
        var image = image
        handle.keepTexts(&image)
        let room = (start + number * stride).assumingMemoryBound(to: cached_image.self)
        isRight = store(image, in: room) && isRight
    }
    handle.forgetTexts()
    var done = 0
    while done < count {
        let part = done..<min(done + longestCall, count)
        var result = -ECONNREFUSED
        if handle.script == nil {
            result = SingleCall.status(
                part.compactMap { bytes(urls[$0]) }, handle.session.place
            ) { event, texts in
                var image = image(event, texts)
                if wantsStandIn(images) {
                    // A folder that cannot be read has no stand-in.
                    do throws(FolderFailure) { try addStandIn(handle, &image) } catch {}
                }
                put(image, done)
                done += 1
            }
        }
        guard result != 0 else { continue }
        guard result == -ECONNREFUSED else { return result }
        for number in part {
            guard let url = urls[number] else { continue }
            put(peek(url, handle, standIn: wantsStandIn(images)), number)
        }
        done = part.upperBound
    }
    return isRight ? 0 : -EINVAL
}

/// The most URLs of one call. The limits of the daemon are far above it.
private let longestCall = 1000

// MARK: - Wanting

@c(cached_add)
public func cachedAdd(_ cached: OpaquePointer, _ request: UnsafePointer<cached_request>) -> Int32 {
    let session = handle(cached).session
    guard session.isOwners else { return -EPERM }
    guard let request = Request(request) else { return -EINVAL }
    session.add(request.bytes, request.priority, request.terms)
    return 0
}

@c(cached_drop)
public func cachedDrop(_ cached: OpaquePointer, _ url: UnsafePointer<CChar>) -> Int32 {
    let session = handle(cached).session
    guard session.isOwners else { return -EPERM }
    session.drop(Places.bytes(url))
    return 0
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
    let result = session.next { event, texts in
        store(image(event, texts), in: room) ? 1 : -EINVAL
    }
    return result ?? 0
}

// MARK: - Waiting

@c(cached_get)
public func cachedGet(
    _ cached: OpaquePointer, _ request: UnsafePointer<cached_request>, _ milliseconds: Int32,
    _ room: UnsafeMutablePointer<cached_image>
) -> Int32 {
    guard let request = Request(request) else { return -EINVAL }
    return handle(cached).get(request, isRefresh: false, milliseconds, room)
}

@c(cached_refresh)
public func cachedRefresh(
    _ cached: OpaquePointer, _ request: UnsafePointer<cached_request>, _ milliseconds: Int32,
    _ room: UnsafeMutablePointer<cached_image>
) -> Int32 {
    guard let request = Request(request) else { return -EINVAL }
    return handle(cached).get(request, isRefresh: true, milliseconds, room)
}

@c(cached_open_file)
public func cachedOpenFile(_ cached: OpaquePointer, _ url: UnsafePointer<CChar>) -> Int32 {
    let handle = handle(cached)
    if handle.script != nil {
        guard let path = peek(url, handle, standIn: false).path else { return -ENOENT }
        var file = cclient_file()
        let descriptor = cclient_open_file(path, &file)
        return descriptor >= 0 ? descriptor : -cclient_errno()
    }
    do throws(FolderFailure) {
        let file = try handle.folder.open(imageName(url))
        if file >= 0 { return file }
    } catch {
        // The daemon can have another directory, and hands over its own files.
    }
    return SingleCall.open(Places.bytes(url), handle.session.place)
}

// MARK: - Keeping and removing

@c(cached_pin)
public func cachedPin(
    _ cached: OpaquePointer, _ url: UnsafePointer<CChar>, _ pinned: Int32
) -> Int32 {
    let handle = handle(cached)
    guard handle.script == nil else {
        let isHere = peek(url, handle, standIn: false).state == Event.State.cached.rawValue
        return isHere ? 0 : -ENOENT
    }
    return SingleCall.pin(Places.bytes(url), pinned != 0, handle.session.place)
}

@c(cached_remove)
public func cachedRemove(_ cached: OpaquePointer, _ url: UnsafePointer<CChar>) -> Int32 {
    let handle = handle(cached)
    guard let script = handle.script else {
        return SingleCall.remove(Places.bytes(url), handle.session.place)
    }
    script.remove(imageName(url))
    return 0
}

@c(cached_remove_account)
public func cachedRemoveAccount(_ cached: OpaquePointer, _ account: UnsafePointer<CChar>) -> Int32 {
    let handle = handle(cached)
    guard handle.script == nil else { return 0 }
    return SingleCall.remove(account: Places.bytes(account), handle.session.place)
}

@c(cached_import)
public func cachedImport(
    _ cached: OpaquePointer, _ url: UnsafePointer<CChar>, _ file: UnsafePointer<CChar>
) -> Int32 {
    let handle = handle(cached)
    guard handle.script == nil else {
        var image = cached_image()
        image.state = Event.State.cached.rawValue
        (image.url, image.path) = (url, file)
        return handle.addState(image)
    }
    var run = ImportRun(Places.bytes(url), Places.bytes(file), handle.session.place)
    while true {
        if let outcome = run.outcome() { return outcome }
        run.wait(20)
    }
}

@c(cached_pressure)
public func cachedPressure(_ cached: OpaquePointer) -> Int32 {
    let handle = handle(cached)
    return handle.script == nil ? handle.session.pressureLevel() : 0
}

// MARK: - Scripts

@c(cached_open_fake)
public func cachedOpenFake() -> OpaquePointer? { open(Handle(FakeScript())) }

@c(cached_fake_set)
public func cachedFakeSet(_ cached: OpaquePointer, _ image: UnsafePointer<cached_image>) -> Int32 {
    var copy = cached_image()
    memcpy(&copy, image, min(image.pointee.length, MemoryLayout<cached_image>.size))
    return handle(cached).addState(copy)
}
