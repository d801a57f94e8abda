/// Cancelled downloads whose host name libcurl still looks up. libcurl would wait for the answer before it
/// releases a transfer, so they stay until it has one.
struct CancelledLookups {
    private var downloads: [FlightID: (download: Download, isUnreported: Bool)] = [:]

    var isEmpty: Bool { downloads.isEmpty }
    var count: Int { downloads.count }

    /// - Parameter isUnreported: The end of the download is reported once libcurl has the answer.
    mutating func add(_ download: Download, isUnreported: Bool) {
        downloads[download.id] = (download, isUnreported)
    }

    mutating func remove(_ id: FlightID) -> (download: Download, isUnreported: Bool)? {
        downloads.removeValue(forKey: id)
    }

    mutating func removeAll() -> [Download] {
        defer { downloads.removeAll() }
        return downloads.values.map(\.download)
    }
}
