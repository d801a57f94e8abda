import CLinux
public import CacheFetching
internal import CacheKey
import CacheValues
import HTTPCaching
internal import Logging
internal import SystemPackage

/// Verifying the entries.
extension Cache {
    /// Reads every entry with the lowest priority, and compares it with its attributes. A damaged file is removed,
    /// and downloaded again at once if it is pinned. One reading runs at a time, and calls that wait share the next.
    ///
    /// - Parameters:
    ///   - repairs: downloads all damaged entries again, on behalf of `client`.
    ///   - onProgress: called from time to time, on a thread of the cache.
    ///   - onEnd: called once with the result, on a thread of the cache.
    public func verify(
        repairs: Bool, client: ClientID,
        onProgress: @escaping VerificationListener, onEnd: @escaping VerificationListener
    ) -> Verification {
        let verification = Verification(
            repairs: repairs, client: client, onProgress: onProgress, onEnd: onEnd)
        verifier.enqueue(verification)
        return verification
    }

    /// Verifies a batch of names, on the verifier's thread.
    func verify(
        _ keys: ArraySlice<CacheKey>, _ reader: inout EntryReader, _ run: VerificationRun,
        _ report: inout VerificationReport
    ) {
        var damaged: [Repair.Case] = []
        for entry in open(keys, &report) {
            switch reader.read(entry, isCancelled: { verifier.ends(run) }) {
            case .undecided: continue
            case .failed(let error):
                report.add(.unreadable(error, path: path(of: entry.key)))
                continue
            case .whole: break
            case .damaged(let damage):
                damaged.append(
                    Repair.Case(entry: entry, damage: damage, request: request(for: entry)))
            }
            report.checked += 1
        }
        let repair = Repair(cache: self, run: run)
        for entry in repair.handle(damaged) { report.add(entry) }
    }

    /// Opens entries on the directory's thread. An opening takes the lock of the state, and all callers would wait for
    /// the verifier's thread, which has the lowest priority, if it was interrupted while it holds that.
    private func open(
        _ keys: ArraySlice<CacheKey>, _ report: inout VerificationReport
    ) -> [OpenedEntry] {
        let done = Inbox<[Result<OpenedEntry?, Failure>]>()
        worker.enqueue(.runBeside { _ in done.put(keys.map(self.opened)) })
        var entries: [OpenedEntry] = []
        for result in done.takeAll()?.first ?? [] {
            switch result {
            case .success(let entry?): entries.append(entry)
            case .success(nil): continue
            case .failure(let failure): report.add(failure)
            }
        }
        return entries
    }

    private func opened(_ key: CacheKey) -> Result<OpenedEntry?, Failure> {
        directory.writeAttributes(of: key)
        do throws(Errno) {
            return .success(try openToVerify(key))
        } catch .noSuchFileOrDirectory {
            return .success(nil)
        } catch {
            return .failure(.unreadable(error, path: path(of: key)))
        }
    }

    /// Opens the file under a name; `nil` if there is none, or there is no digest to compare it with.
    private func openToVerify(_ key: CacheKey) throws(Errno) -> OpenedEntry? {
        switch try directory.inspect(key, name: key.description) {
        case nil: nil
        case .failure(let damage): try directory.openDamaged(key, damage)
        case .success where !directory.keepsDigests: nil
        case .success(let facts):
            OpenedEntry(
                key: key, descriptor: try openWithoutAccessTime(key), isPinned: facts.isPinned)
        }
    }

    /// Opens an entry so that reading it does not count as its use. open(2), `O_NOATIME`.
    func openWithoutAccessTime(_ key: CacheKey) throws(Errno) -> Int32 {
        do {
            return try openQuietly(key, clinux_o_noatime)
        } catch .notPermitted {
            return try openQuietly(key)
        }
    }

    /// How to download an entry again; `nil` if its file does not have its URL, or only its account can download it.
    private func request(for entry: OpenedEntry) -> ImageRequest? {
        let key = entry.key
        do {
            guard let text = try directory.url(of: key), key.isName(of: text),
                try directory.record(of: key)?.isPersonal != true
            else { return nil }
            let name = try CacheURL(text)
            let source = try directory.source(of: key)
            return ImageRequest(try source.map { try CacheURL($0) } ?? name, named: name)
        } catch {
            return nil
        }
    }
}
