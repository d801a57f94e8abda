internal import CClient
internal import ClientCore
internal import MediaTypes
internal import Synchronization

/// The images of this machine, by URL. A program needs one such object, which any thread can use.
///
///     let cache = ImageCache.shared
///     let load = cache.load(ImageRequest("https://example.com/a.png", priority: .visible))
///     show(load.initial)
///     for await state in load.dropFirst() { show(state) }
///
/// Cached images are found in the directory, without the daemon. A connection and a thread exist only while images
/// are wanted. After a restart of the daemon, the library requests the wanted images again.
public final class ImageCache: Sendable {
    /// The places of the cache and of the daemon, and how long to wait for the daemon.
    public struct Configuration: Sendable {
        /// The cache directory. `nil` stands for `$CACHED_DIRECTORY`, `/var/cache/cached` if the machine's daemon is
        /// the one that is used, `$XDG_CACHE_HOME/cached` or `~/.cache/cached`.
        public var directory: String?
        /// The daemon's socket. `nil` stands for `$CACHED_SOCKET`, or the first of
        /// `$XDG_RUNTIME_DIR/cached/cached.sock` and `/run/cached/cached.sock` that answers.
        public var socket: String?
        /// The time without an answer of a daemon, while it restarts for example, after which images fail with the
        /// kind `noDaemon`. If none was ever there and none can be started, they fail at once.
        public var patience = Duration.seconds(30)
        /// Whether a daemon is started if none answers: the user's `cached.socket` of systemd, or else the program
        /// `cached`, which ends after ten minutes without a client. `CACHED_START=no` prevents it too.
        public var startsDaemon = true

        public init(directory: String? = nil, socket: String? = nil) {
            self.directory = directory
            self.socket = socket
        }
    }

    /// The cache at the usual places, which all programs share.
    public static let shared = ImageCache()

    private let folder: Mutex<Folder>
    private let place: DaemonPlace
    let engine: Engine
    /// Whether a script stands in place of the directory and the daemon.
    private let isFake: Bool

    public init(_ configuration: Configuration = Configuration()) {
        let directory = configuration.directory.map { Array($0.utf8) }
        let socket = configuration.socket.map { Array($0.utf8) }
        folder = Mutex(Folder(Places.directory(directory, socket: socket)))
        place = DaemonPlace(
            directory: directory, socket: socket, starts: configuration.startsDaemon)
        engine = Engine(place, patience: configuration.patience)
        isFake = false
    }

    init(_ place: DaemonPlace, script: sending FakeScript) {
        folder = Mutex(Folder(Places.directory(nil)))
        self.place = place
        engine = Engine(place, patience: .zero, script: script)
        isFake = true
    }
}

// MARK: - Asking

extension ImageCache {
    /// Whether a daemon answers, or could be started. It starts none, and waits for nothing.
    public var isAvailable: Bool { isFake || place.isAvailable }

    /// The largest smaller size of an image that is cached, to be shown until the image itself is. It needs no daemon.
    ///
    /// - Parameter url: of the original, or of a size of it (`URL#side=256`), than which the result is smaller.
    public func standIn(for url: String) -> ImageFile? {
        guard !isFake else { return nil }
        return folder.withLock { folder in
            do throws(FolderFailure) {
                return try folder.standIn(Array(url.utf8)).map {
                    file($0, url, at: folder.lastPath)
                }
            } catch {
                return nil
            }
        }
    }

    /// The state of an image in the directory. This takes some microseconds and needs no daemon. The state is
    /// `failed` if the directory cannot be used, or if the URL is longer than 8,192 bytes.
    public func peek(_ url: String) -> ImageState {
        look(url).state
    }

    /// The states of many images, by one call to the daemon. If no daemon answers, they come from the directory.
    ///
    /// - Returns: one state for each URL, in the same order.
    /// - Throws: ``CacheFailure`` if the daemon refuses the call.
    public func states(of urls: [String]) async throws(CacheFailure) -> [ImageState] {
        guard !isFake else { return urls.map { peek($0) } }
        var states: [ImageState] = []
        states.reserveCapacity(urls.count)
        for part in urls.parts(of: Engine.longestCall) {
            do throws(CacheFailure) {
                let news = try await engine.news(of: Calls.status(part.map { Array($0.utf8) }))
                states += news.map { $0.state }
            } catch {
                guard error.kind == .noDaemon else { throw error }
                states += part.map { peek($0) }
            }
        }
        return states
    }

    /// The longest URL that the daemon takes, in bytes.
    private static let longestURL = 8192

    /// The state in the directory, and whether the image may be used without asking its origin.
    func look(_ url: String) -> (state: ImageState, isFresh: Bool) {
        let bytes = Array(url.utf8)
        guard bytes.count <= Self.longestURL else { return (.failed(.longURL), false) }
        let name = bytes.withUnsafeBytes { ImageName(url: $0) }
        guard !isFake else {
            let state = engine.scripted(name, place) ?? .missing
            let isFresh = if case .cached = state { true } else { false }
            return (state, isFresh)
        }
        return folder.withLock { folder in
            let image: FolderImage
            do throws(FolderFailure) {
                image = try folder.look(name)
            } catch {
                return (.failed(CacheFailure(error)), false)
            }
            switch image.state {
            case .missing, .interrupted: return (.missing, false)
            case .inFlight:
                let progress = Progress(
                    received: image.received, total: image.total < 0 ? nil : image.total,
                    phase: .receiving, width: nil, height: nil)
                return (.inFlight(progress), false)
            case .cached:
                let isFresh = time(nil) < Int(image.freshUntil)
                return (.cached(file(image, url, at: folder.lastPath)), isFresh)
            }
        }
    }

    private func file(
        _ image: FolderImage, _ url: String, at path: UnsafePointer<CChar>
    ) -> ImageFile {
        ImageFile(
            url: url, path: String(cString: path), size: image.total,
            mediaType: image.type == .other ? nil : image.type.name,
            width: image.width > 0 ? Int(image.width) : nil,
            height: image.height > 0 ? Int(image.height) : nil, place: place)
    }
}

// MARK: - Wanting

extension ImageCache {
    /// Wants an image. It is downloaded if it is missing or stale; all callers share one download.
    ///
    /// The image is wanted from the first iteration until the task is cancelled or the iterator is released.
    public func load(_ request: ImageRequest) -> ImageLoad {
        var (initial, isFresh) = look(request.url)
        switch initial {
        // The daemon can have another directory, so it is asked all the same.
        case .failed: initial = .missing
        // Only the daemon knows the digest of a file.
        case .cached where request.sha256 != nil: initial = .missing
        case .cached(let file) where !request.accepts(file): initial = .failed(.notAccepted(file))
        default: break
        }
        let isSettled = isFresh && !request.refresh && request.sha256 == nil
        return ImageLoad(request, initial: initial, isSettled: isSettled, engine)
    }

    /// Waits for the file of an image. A cached one is returned at once, even if it is stale, unless the request
    /// refreshes it or names a digest.
    ///
    /// - Throws: ``CacheFailure``; of the kind `cancelled` if the task is cancelled. Other callers still get the
    /// image.
    public func file(for request: ImageRequest) async throws(CacheFailure) -> ImageFile {
        let load = load(request)
        switch load.initial {
        case .cached(let file) where !request.refresh: return file
        case .failed(let failure) where !request.refresh: throw failure
        default: break
        }
        for await state in load.dropFirst() {
            switch state {
            case .missing, .inFlight: continue
            case .cached(let file): return file
            case .failed(let failure): throw failure
            }
        }
        throw .cancelled
    }

    /// Wants images in the background until the result is released.
    public func prefetch(_ urls: some Sequence<String>) -> Prefetch {
        Prefetch(Array(urls), engine)
    }

    /// Makes an empty set of the images that a list shows; see ``VisibleSet``.
    public func makeVisibleSet(priority: Priority = .visible) -> VisibleSet {
        VisibleSet(priority, self)
    }
}

// MARK: - Keeping and removing

extension ImageCache {
    /// Protects images from eviction. An image in flight is pinned when it is cached.
    ///
    /// - Throws: ``CacheFailure`` of the kind `noDaemon`, or why an image cannot be pinned.
    public func pin(_ urls: [String]) async throws(CacheFailure) {
        try await setPinned(true, urls)
    }

    /// Ends the protection from eviction.
    ///
    /// - Throws: ``CacheFailure``, as ``pin(_:)`` does.
    public func unpin(_ urls: [String]) async throws(CacheFailure) {
        try await setPinned(false, urls)
    }

    private func setPinned(_ isPinned: Bool, _ urls: [String]) async throws(CacheFailure) {
        guard !isFake else { return }
        for part in urls.parts(of: Engine.longestCall) {
            let call = Calls.pin(part.map { Array($0.utf8) }, isPinned)
            for news in try await engine.news(of: call, starts: true) {
                if case .failed(let failure) = news.state { throw failure }
            }
        }
    }

    /// Removes images, pinned or not, and cancels their downloads.
    ///
    /// - Throws: ``CacheFailure``, for example of the kind `notPermitted`.
    public func remove(_ urls: [String]) async throws(CacheFailure) {
        guard !isFake else { return }
        for part in urls.parts(of: Engine.longestCall) {
            let call = Calls.remove(part.map { Array($0.utf8) })
            _ = try await engine.news(of: call, starts: true)
        }
    }

    /// Removes every image of an account, that is, of URLs with `#as=ACCOUNT`, and cancels their downloads.
    ///
    /// - Throws: ``CacheFailure``, as ``remove(_:)`` does.
    public func remove(account: String) async throws(CacheFailure) {
        guard !isFake else { return }
        _ = try await engine.news(of: Calls.remove(account: Array(account.utf8)), starts: true)
    }
}

// MARK: - Importing

extension ImageCache {
    /// Puts a whole image file into the cache under a URL, as `cachectl import URL FILE` does: it runs that program,
    /// which needs no daemon.
    ///
    /// - Throws: ``CacheFailure``, for example of the kind `notAnImage`.
    public func importFile(_ path: String, as url: String) async throws(CacheFailure) {
        guard !isFake else { return add(.cached(ImageFile(url: url, path: path)), of: url) }
        var run = ImportRun(Array(url.utf8), Array(path.utf8), place)
        while true {
            switch run.outcome() {
            case nil:
                // A cancelled task waits too: the program does not end because of it.
                try? await Task.sleep(for: .milliseconds(5))
            case 0?: return
            case let cause?: throw .importing(path, cause)
            }
        }
    }
}

// MARK: - Watching

extension ImageCache {
    /// The state of every image of the cache, and then each change. A slow reader gets the newest state of each
    /// image. While no daemon answers, there are no changes.
    public var changes: ImageChanges {
        ImageChanges { buffer in
            self.engine.addObserver(buffer)
        } end: { buffer in
            self.engine.removeObserver(buffer)
        }
    }

    /// The level of memory pressure: the current one, then each change. An application should release decoded images;
    /// the files stay. Without a daemon there are no levels. A level that lasts only briefly is reported too.
    public var pressure: some AsyncSequence<MemoryPressure, Never> & Sendable {
        AsyncStream(bufferingPolicy: .bufferingNewest(8)) { continuation in
            let observer = PressureObserver(continuation)
            continuation.onTermination = { [engine] _ in engine.removeObserver(observer) }
            engine.addObserver(observer)
        }
    }
}

extension Array {
    /// The elements in parts of at most `count`.
    fileprivate func parts(of count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map {
            self[$0..<Swift.min($0 + count, self.count)]
        }
    }
}
