import CCached
import CClient

#if canImport(ClientCore)
    import ClientCore
#endif

/// What an application has opened.
final class Handle {
    var folder: Folder
    let session: Session
    /// In the tests of an application, in place of the daemon and the directory.
    let script: FakeScript?
    /// Those of ``get(_:isRefresh:_:_:)``, made when they are needed. They remember why no daemon could be started.
    var getter: Session?
    var refresher: Session?
    /// Copies of the texts of the last answer.
    private var texts: [UnsafeMutablePointer<CChar>] = []

    init(_ directory: [UInt8], _ place: DaemonPlace) {
        folder = Folder(directory)
        session = Session(place)
        script = nil
    }

    init(_ script: FakeScript) {
        folder = Folder(StaticText.bytes("/nonexistent"))
        session = Session(script)
        self.script = script
    }

    deinit {
        forgetTexts()
    }

    func forgetTexts() {
        for text in texts { free(text) }
        texts.removeAll(keepingCapacity: true)
    }

    /// Copies the texts of an image, which live until ``forgetTexts()``.
    func keepTexts(_ image: inout cached_image) {
        image.url = kept(image.url)
        image.path = kept(image.path)
        image.media_type = kept(image.media_type)
        image.kind = kept(image.kind)
        image.message = kept(image.message)
        image.stand_in = kept(image.stand_in)
    }

    private func kept(_ text: UnsafePointer<CChar>?) -> UnsafePointer<CChar>? {
        guard let text, let copy = strdup(text) else { return nil }
        texts.append(copy)
        return UnsafePointer(copy)
    }
}

func handle(_ cached: OpaquePointer) -> Handle {
    Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(cached)).takeUnretainedValue()
}

// MARK: - Images

/// An image as the daemon describes it. Its texts are those of the event.
func image(_ event: Event, _ texts: UnsafeBufferPointer<UInt8>) -> cached_image {
    func text(_ start: Int?) -> UnsafePointer<CChar>? {
        guard let start, let base = texts.baseAddress else { return nil }
        return UnsafeRawPointer(base + start).assumingMemoryBound(to: CChar.self)
    }
    var image = cached_image()
    image.state = event.state.rawValue
    (image.received, image.total) = (event.received, event.total)
    (image.width, image.height) = (event.width, event.height)
    (image.http_status, image.retry_at) = (event.httpStatus, event.retryAt)
    (image.fresh_until, image.pinned) = (event.freshUntil, event.isPinned ? 1 : 0)
    image.phase = event.phase.map { $0.rawValue + 1 } ?? 0
    (image.url, image.path) = (text(event.url), text(event.path))
    image.media_type = text(event.mediaType)
    (image.kind, image.message) = (text(event.kind), text(event.message))
    if event.state == .cached, let path = image.path {
        var file = cclient_file()
        // In a sandbox, the daemon's path leads nowhere.
        if cclient_look(path, &file) != 0 { image.path = nil }
        image.identity = file.identity
    }
    return image
}

/// The state of an image in the directory. Its path is that of the folder, until the next look.
func look(_ url: UnsafePointer<CChar>, _ handle: Handle, standIn: Bool) -> (
    cached_image, FolderImage
) {
    let bytes = UnsafeRawBufferPointer(start: url, count: strlen(url))
    var image = cached_image()
    var found = FolderImage()
    (image.url, image.total) = (url, -1)
    guard bytes.count <= longestURL else {
        refuse(&image, "invalidURL", "the URL is longer than 8,192 bytes; shorten it")
        return (image, found)
    }
    do throws(FolderFailure) {
        found = try handle.folder.look(ImageName(url: bytes))
        describe(found, handle, &image)
        if standIn { try addStandIn(handle, &image) }
    } catch {
        refuse(&image, error.kind, error.message)
    }
    return (image, found)
}

/// The longest URL that the daemon takes, in bytes.
private let longestURL = 8192

private func describe(_ found: FolderImage, _ handle: Handle, _ image: inout cached_image) {
    (image.received, image.total) = (found.received, found.total)
    (image.width, image.height, image.identity) = (found.width, found.height, found.identity)
    (image.fresh_until, image.pinned) = (Int64(found.freshUntil), found.isPinned ? 1 : 0)
    switch found.state {
    case .missing, .interrupted: image.state = Event.State.missing.rawValue
    case .inFlight: image.state = Event.State.inFlight.rawValue
    case .cached:
        image.state = Event.State.cached.rawValue
        image.path = handle.folder.lastPath
        if found.type != .other { image.media_type = pointer(found.type.literal) }
    }
}

/// Names a smaller image to show meanwhile, unless the image is here.
func addStandIn(_ handle: Handle, _ image: inout cached_image) throws(FolderFailure) {
    guard image.state != Event.State.cached.rawValue, let url = image.url else { return }
    if try handle.folder.standIn(Places.bytes(url)) != nil {
        image.stand_in = handle.folder.lastPath
    }
}

func refuse(_ image: inout cached_image, _ kind: StaticString, _ message: StaticString) {
    image.state = Event.State.failed.rawValue
    (image.kind, image.message) = (pointer(kind), pointer(message))
}

private func pointer(_ text: StaticString) -> UnsafePointer<CChar> {
    UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

/// Copies as much of an image as the caller has room for. Returns whether the room is one.
func store(_ image: cached_image, in room: UnsafeMutablePointer<cached_image>) -> Bool {
    let length = room.pointee.length
    guard length >= MemoryLayout<size_t>.size else { return false }
    var image = image
    image.length = length
    memcpy(room, &image, min(length, MemoryLayout<cached_image>.size))
    return true
}

/// Whether the caller has room for the last member, which takes time to find.
func wantsStandIn(_ room: UnsafePointer<cached_image>) -> Bool {
    room.pointee.length >= MemoryLayout<cached_image>.size
}

// MARK: - Requests

/// A request of the caller as values.
struct Request {
    let url: UnsafePointer<CChar>
    var bytes: [UInt8] { Places.bytes(url) }
    let priority: WantedPriority
    var terms = WantTerms()

    /// `nil` if it makes no sense.
    init?(_ request: UnsafePointer<cached_request>) {
        var copy = cached_request()
        let length = min(request.pointee.length, MemoryLayout<cached_request>.size)
        memcpy(&copy, request, length)
        guard length >= MemoryLayout<size_t>.size, let url = copy.url,
            let priority = WantedPriority(rawValue: copy.priority),
            copy.attempts >= 0, copy.timeout >= 0
        else { return nil }
        (self.url, self.priority) = (url, priority)
        (terms.attempts, terms.timeout) = (copy.attempts, copy.timeout)
        if let accept = copy.accept { terms.accept = Places.bytes(accept) }
        guard var line = copy.headers else { return }
        while let text = line.pointee {
            guard terms.addHeader(line: Places.bytes(text)) else { return nil }
            line += 1
        }
        guard terms.headers.isEmpty || bytes.namesAccount else { return nil }
    }
}
