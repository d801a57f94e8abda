internal import ClientCore

/// Watches the whole cache and the memory pressure for its observers. The engine's lock guards it.
final class Watcher {
    let session: Session
    private let place: DaemonPlace
    private var changeObservers: [ObjectIdentifier: ChangeBuffer] = [:]
    private var pressureObservers: [ObjectIdentifier: PressureObserver] = [:]
    private var level: MemoryPressure?

    init(_ place: DaemonPlace) {
        self.place = place
        session = Session(place)
    }

    var isIdle: Bool { changeObservers.isEmpty && pressureObservers.isEmpty }

    func add(_ buffer: ChangeBuffer) {
        // A watch begins with the state of everything, so each observer needs a new one.
        if !changeObservers.isEmpty { session.restartChanges() }
        changeObservers[ObjectIdentifier(buffer)] = buffer
    }

    func remove(_ buffer: ChangeBuffer) { changeObservers[ObjectIdentifier(buffer)] = nil }

    func add(_ observer: PressureObserver) {
        pressureObservers[ObjectIdentifier(observer)] = observer
        if let level { observer.continuation.yield(level) }
    }

    func remove(_ observer: PressureObserver) {
        pressureObservers[ObjectIdentifier(observer)] = nil
    }

    func turn() {
        if !pressureObservers.isEmpty { takePressure() }
        guard !changeObservers.isEmpty else { return }
        while let news = session.nextChanges({ events, texts in
            events.map { News($0, texts, place) }
        }) {
            for buffer in changeObservers.values {
                for news in news {
                    buffer.put(ImageChange(url: news.url, key: news.key, state: news.state))
                }
            }
        }
    }

    private func takePressure() {
        while let number = session.nextPressure() {
            let next: MemoryPressure = number == 0 ? .normal : number == 1 ? .warning : .critical
            level = next
            for observer in pressureObservers.values { observer.continuation.yield(next) }
        }
    }
}
