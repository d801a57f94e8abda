public enum MediaType: UInt8, Sendable {
    case other, svg, png
    public var name: String { "x" }
    public init?(name: String) { return nil }
}
struct ImageReport {
    enum Completeness { case whole }
    var mediaType: MediaType?; var width: Int?; var height: Int?; var completeness: Completeness
}
struct ImageInspector {
    var mediaType: MediaType?
    mutating func consume(_ b: UnsafeRawBufferPointer) {}
    mutating func finish() -> ImageReport { fatalError() }
}
