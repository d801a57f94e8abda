/// The states that images have in the tests of an application, in place of a daemon.
public final class FakeScript {
    private struct State {
        let event: Event
        let texts: [UInt8]
    }

    private struct Image {
        let name: ImageName
        var states: [State] = []
        /// The number of states that were reported.
        var reported = 0
    }

    /// Few, so they are searched one by one.
    private var images: [Image] = []

    public init() {}

    /// Adds a state, with the texts that its event refers to.
    public func add(_ name: ImageName, _ event: Event, _ texts: [UInt8]) {
        if position(of: name) == nil { images.append(Image(name: name)) }
        guard let position = position(of: name) else { return }
        images[position].states.append(State(event: event, texts: texts))
    }

    public func remove(_ name: ImageName) {
        images.removeAll { $0.name == name }
    }

    /// Goes on to the next state. Returns `false` after the last one.
    public func advance(_ name: ImageName) -> Bool {
        guard let position = position(of: name),
            images[position].reported < images[position].states.count
        else { return false }
        images[position].reported += 1
        return true
    }

    /// Passes on the state that was reported last, or the first one if none was; `nil` if there is none.
    public func withState<Result>(
        of name: ImageName, _ body: (Event, UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result? {
        guard let position = position(of: name) else { return nil }
        let state = images[position].states[max(images[position].reported, 1) - 1]
        return state.texts.withUnsafeBufferPointer { body(state.event, $0) }
    }

    private func position(of name: ImageName) -> Int? {
        images.firstIndex { $0.name == name }
    }
}
