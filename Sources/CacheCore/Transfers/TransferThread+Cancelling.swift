import CacheFetching
internal import CacheKey

extension TransferThread {
    func cancel(_ id: FlightID, _ key: CacheKey, _ discardsPartial: Bool) {
        if let download = downloads[id] {
            download.stop()
            if download.request.isResolving {
                abandon(download)
            } else {
                release(download)
                fail(key, id, .removed)
            }
        }
        if discardsPartial { discardPartial(key) }
    }

    /// Frees the download's slot at once. Callers that come and go must not have ever more names looked up, so the
    /// state counts the lookups that are left. It does not count those of the store's name: if there are too many, a
    /// question ends only with its lookup.
    private func abandon(_ download: Download) {
        let isQuestion = download is StoreDownload
        let endsLater = isQuestion && cancellations.count >= context.settings.transferLimit
        downloads[download.id] = nil
        download.request.isAbandoned = true
        cancellations.add(download, endsLater: endsLater)
        if !isQuestion {
            context.delegate.downloadAbandoned(download.id)
        } else if !endsLater {
            fail(download.key, download.id, .removed)
        }
    }

    /// libcurl has finished a cancelled request. Returns whether it was one.
    func lookupEnded(_ request: Request) -> Bool {
        guard let (download, endsLater) = cancellations.remove(request.flight) else { return false }
        multi.remove(request.easy)
        if !(download is StoreDownload) {
            context.delegate.lookupEnded(download.id)
        } else if endsLater {
            fail(download.key, download.id, .removed)
        }
        return true
    }

    func discardPartial(_ key: CacheKey) {
        guard !downloads.values.contains(where: { $0.key == key }) else { return }
        context.discardPartial(key)
    }
}
