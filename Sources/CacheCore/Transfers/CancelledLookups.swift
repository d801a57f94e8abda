import CacheFetching

/// Cancelled downloads whose host name libcurl is still looking up. To release such a transfer now would block the
/// thread until the lookup ends, so each download is kept here until then.
struct CancelledLookups {
    private var downloads: [FlightID: (download: Download, endsLater: Bool)] = [:]

    var isEmpty: Bool { downloads.isEmpty }
    var count: Int { downloads.count }

    var requests: some Sequence<Request> { downloads.values.lazy.map(\.download.request) }

    /// - Parameter endsLater: whether the end of the download is reported once libcurl has the answer.
    mutating func add(_ download: Download, endsLater: Bool) {
        downloads[download.id] = (download, endsLater)
    }

    mutating func remove(_ id: FlightID) -> (download: Download, endsLater: Bool)? {
        downloads.removeValue(forKey: id)
    }

    mutating func removeAll() -> [Download] {
        defer { downloads.removeAll() }
        return downloads.values.map(\.download)
    }
}
