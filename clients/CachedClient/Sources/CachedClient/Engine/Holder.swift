/// One who wants images, and hears about them. The identity of the object tells holders apart.
final class Holder: Sendable {
    /// Called on the engine's thread, with the URL and the new state.
    let report: @Sendable (String, ImageState) -> Void

    init(_ report: @escaping @Sendable (String, ImageState) -> Void) {
        self.report = report
    }
}
