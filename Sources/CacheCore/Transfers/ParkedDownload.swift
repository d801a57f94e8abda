internal import CacheKey

/// A download that ended its request to wait for space.
struct ParkedDownload {
    let key: CacheKey
    let url: CacheURL
    let needed: Int64
    let length: Int64?
}

/// Waiting for space without a request.
extension TransferThread {
    /// Ends the request of a download that has to wait for space.
    func park(_ download: Download, lacking bytes: Int64) {
        parked[download.id] = ParkedDownload(
            key: download.key, url: download.url, needed: bytes, length: download.length)
        download.leaveBehind()
        release(download)
        context.delegate.downloadBegan(download.key, download.id, received: 0, of: nil)
    }

    /// Starts a parked download again if there is space now.
    func unpark(_ id: FlightID) {
        // libcurl may not have reported the end of the request yet.
        if let download = downloads[id], let bytes = download.space.lacking {
            park(download, lacking: bytes)
        }
        guard let download = parked[id] else { return }
        switch context.delegate.space(
            for: download.key, id, needed: download.needed, length: download.length)
        {
        case .wait, .again: break
        case .refused(let failure):
            parked[id] = nil
            fail(download.key, id, failure)
        case .granted:
            parked[id] = nil
            // A download of unknown length may have to wait again. On a connection of its own it can do so with
            // its request open.
            begin(
                id, download.key, download.url, LocalHints(),
                mayShareConnection: download.length != nil)
        }
    }
}
