internal import CacheKey

extension TransferThread {
    func cancel(_ id: FlightID, _ key: CacheKey, _ discardsPartial: Bool) {
        if let download = downloads[id] {
            if download.lookup == nil { download.leaveBehind() } else { download.discardPartial() }
            if download.request.isResolving {
                abandon(download)
            } else {
                release(download)
                fail(key, id, .removed)
            }
        }
        if discardsPartial { discardPartial(key) }
    }

    /// Frees the download's slot at once. If too many are abandoned already, the slot is freed only with the end
    /// of the lookup: otherwise callers that come and go could have ever more names looked up.
    private func abandon(_ download: Download) {
        let isUnreported = cancellations.count >= context.settings.transferLimit
        downloads[download.id] = nil
        download.request.isAbandoned = true
        cancellations.add(download, isUnreported: isUnreported)
        if !isUnreported { fail(download.key, download.id, .removed) }
    }

    func discardPartial(_ key: CacheKey) {
        guard !downloads.values.contains(where: { $0.key == key }) else { return }
        context.discardPartial(key)
    }
}
