public enum MediaType: UInt8, Sendable {
    case other, svg, png
    public var name: String { self == .png ? "image/png" : "x" }
    public init?(name: String) { self = .png }
}
struct ImageReport {
    enum Completeness { case whole }
    var mediaType: MediaType?
    var width: Int?
    var height: Int?
    var completeness: Completeness
}
struct ImageInspector {
    var mediaType: MediaType?
    mutating func consume(_ b: UnsafeRawBufferPointer) {}
    mutating func finish() -> ImageReport {
        ImageReport(mediaType: .png, width: 1, height: 2, completeness: .whole)
    }
}
