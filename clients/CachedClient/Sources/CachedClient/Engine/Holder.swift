/// An object that wants images and gets reports about them. Its identity distinguishes holders.
final class Holder: Sendable {
    /// The engine's thread calls it with each report about an image.
    let report: @Sendable (News) -> Void

    init(_ report: @escaping @Sendable (News) -> Void) {
        self.report = report
    }
}
