/// One who wants images, and hears about them. The identity of the object tells holders apart.
final class Holder: Sendable {
    /// Called on the engine's thread, with news of an image.
    let report: @Sendable (News) -> Void

    init(_ report: @escaping @Sendable (News) -> Void) {
        self.report = report
    }
}
