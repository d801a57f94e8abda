internal import ClientCore
internal import Synchronization

/// The images that a list shows. The set wants them until it is released.
///
///     let visible = cache.makeVisibleSet()
///     visible.show(rows.map(\.url))          // at each scroll
///     for await change in visible.changes { cell(for: change.url)?.show(change.state) }
///
/// Unlike an ``ImageLoad`` it never ends: it also reports images that are evicted, or that arrive after a failure.
public final class VisibleSet: Sendable {
    private let cache: ImageCache
    private let priority: Priority
    private let contents = Contents()
    private let holder: Holder
    /// One change at a time, so that the engine gets all changes in their order.
    private let turn = Mutex(())

    init(_ priority: Priority, _ cache: ImageCache) {
        self.priority = priority
        self.cache = cache
        holder = Holder { [contents] news in contents.set(news.state, news.url) }
    }

    deinit {
        show([])
    }

    /// Shows these images and no others. Downloads of images that are in both sets continue.
    public func show(_ urls: some Collection<String>) {
        turn.withLock { _ in
            let (added, dropped) = contents.replace(with: urls)
            guard !added.isEmpty || !dropped.isEmpty else { return }
            cache.engine.replace(dropped, by: added, holder, priority, StreamOptions())
        }
    }

    /// The latest state of an image. If the image is shown, the daemon has reported the state; otherwise it comes
    /// from the directory.
    public subscript(url: String) -> ImageState { contents.state(of: url) ?? cache.peek(url) }

    /// Each new state of an image that is shown. A slow reader gets only the newest state of each image.
    public var changes: ImageChanges {
        ImageChanges { [contents] in
            contents.add($0)
        } end: { [contents] in
            contents.remove($0)
        }
    }
}

/// The images of a set and their states.
private final class Contents: Sendable {
    private struct State {
        var states: [String: ImageState?] = [:]
        var observers: [ObjectIdentifier: ChangeBuffer] = [:]
    }

    private let state = Mutex(State())

    func replace(with urls: some Collection<String>) -> (added: [String], dropped: [String]) {
        state.withLock { state in
            var next = [String: ImageState?](minimumCapacity: urls.count)
            var added: [String] = []
            for url in urls where next[url] == nil {
                let before = state.states[url]
                if before == nil { added.append(url) }
                next.updateValue(before ?? nil, forKey: url)
            }
            let dropped = state.states.keys.filter { next[$0] == nil }
            state.states = next
            return (added, dropped)
        }
    }

    func set(_ image: ImageState, _ url: String) {
        state.withLock { state in
            guard let before = state.states[url], before != image else { return }
            state.states.updateValue(image, forKey: url)
            for observer in state.observers.values {
                observer.put(ImageChange(url: url, key: "", state: image))
            }
        }
    }

    func state(of url: String) -> ImageState? {
        state.withLock { $0.states[url] ?? nil }
    }

    func add(_ buffer: ChangeBuffer) {
        state.withLock { state in
            state.observers[ObjectIdentifier(buffer)] = buffer
            for (url, image) in state.states {
                if let image { buffer.put(ImageChange(url: url, key: "", state: image)) }
            }
        }
    }

    func remove(_ buffer: ChangeBuffer) {
        state.withLock { $0.observers[ObjectIdentifier(buffer)] = nil }
    }
}
