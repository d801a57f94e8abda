/// The client that waits for the answer to a request. Used on the event loop only.
final class Asker {
    private(set) var isThere = true
    /// Called if the client goes away before the answer.
    var onLeave: (() -> Void)?

    func leave() {
        isThere = false
        onLeave?()
        onLeave = nil
    }
}
