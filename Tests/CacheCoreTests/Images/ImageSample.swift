import Testing

@testable import CacheCore

/// A small file of known content.
struct ImageSample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: Bytes
    let report: ImageReport

    init(
        _ name: String, _ mediaType: MediaType, _ width: Int?, _ height: Int?,
        verdict: ImageReport.Completeness = .whole, _ parts: Bytes...
    ) {
        testDescription = name
        bytes = Bytes(parts.joined())
        report = .init(mediaType, width, height, verdict)
    }

    static let all = raster + boxed + directories + vector
    static let whole = all.filter { $0.report.completeness == .whole }
}

extension ImageReport {
    init(
        _ mediaType: MediaType?, _ width: Int?, _ height: Int?, _ completeness: Completeness,
        trailing: Bool = false
    ) {
        self.init(
            mediaType: mediaType, width: width, height: height, completeness: completeness,
            hasTrailingBytes: trailing)
    }

    static let notAnImage = ImageReport(nil, nil, nil, .unverifiable)
}
