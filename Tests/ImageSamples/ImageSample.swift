package import ImageFormats

/// A small file with known content.
package struct ImageSample: Sendable, CustomStringConvertible {
    package let description: String
    package let bytes: Bytes
    package let report: ImageReport

    package init(
        _ name: String, _ mediaType: MediaType, _ width: Int?, _ height: Int?,
        verdict: ImageReport.Completeness = .whole, orientation: Int = 1, _ parts: Bytes...
    ) {
        description = name
        bytes = Bytes(parts.joined())
        report = .init(mediaType, width, height, verdict, orientation: orientation)
    }

    package static let all = raster + boxed + directories + vector
    package static let whole = all.filter { $0.report.completeness == .whole }
}

extension ImageReport {
    package init(
        _ mediaType: MediaType?, _ width: Int?, _ height: Int?, _ completeness: Completeness,
        trailing: Bool = false, orientation: Int = 1
    ) {
        self.init(
            mediaType: mediaType, width: width, height: height,
            orientation: Orientation(rawValue: UInt8(orientation)) ?? .upright,
            completeness: completeness,
            hasTrailingBytes: trailing)
    }

    package static let notAnImage = ImageReport(nil, nil, nil, .unverifiable)
}
