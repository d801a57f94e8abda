import CLinux
internal import CacheKey
internal import Logging
internal import SystemPackage

/// Comparing what lies in the directory with what was fetched.
extension Cache {
    /// Reads every entry on all cores, with the lowest priority, and compares it with its attributes.
    /// What is damaged is no entry any more, to the next daemon neither. One verification runs at a time.
    ///
    /// - Parameters:
    ///   - repairs: downloads damaged entries anew, on behalf of `client`, or removes them.
    ///   - onProgress: is called now and then, `onEnd` once, on the cache's own thread.
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
        _ keys: ArraySlice<CacheKey>, _ verification: Verification,
        _ report: inout VerificationReport
    ) {
        var specimens: [OpenedEntry] = []
        for key in keys {
            do {
                if let specimen = try specimen(key) { specimens.append(specimen) }
            } catch .noSuchFileOrDirectory {
                continue
            } catch {
                report.failure = report.failure ?? .unreadable(error, path: path(of: key))
            }
        }
        let findings = ParallelVerifier(specimens).read(directory) {
            verification.isCancelled || self.isDraining
        }
        var damaged: [Repair.Case] = []
        for (specimen, finding) in zip(specimens, findings) {
            switch finding {
            case .undecided: continue
            case .failed(let error):
                report.failure = report.failure ?? .unreadable(error, path: path(of: specimen.key))
                continue
            case .whole: break
            case .damaged(let damage):
                let wish = wish(for: specimen.key)
                damaged.append(Repair.Case(specimen: specimen, damage: damage, wish: wish))
            }
            report.checked += 1
        }
        let repair = Repair(cache: self, verification: verification)
        for entry in repair.settle(damaged) { report.add(entry) }
    }

    /// Holds what lies under a name; `nil` where nothing does, and where there is nothing to compare it
    /// with.
    private func specimen(_ key: CacheKey) throws(Errno) -> OpenedEntry? {
        switch try directory.inspect(key, name: key.description) {
        case nil: nil
        case .failure(let damage):
            try directory.hold(key, damage, isPinned: directory.isPinned(key))
        case .success where !directory.keepsAttributes: nil
        case .success(let facts):
            OpenedEntry(key: key, descriptor: try openWithoutTrace(key), isPinned: facts.isPinned)
        }
    }

    /// Opens an entry so that reading it is nobody's use. open(2), `O_NOATIME`.
    private func openWithoutTrace(_ key: CacheKey) throws(Errno) -> Int32 {
        do {
            return try openQuietly(key, clinux_o_noatime)
        } catch .notPermitted {
            return try openQuietly(key)
        }
    }

    /// How to have an entry anew; `nil` where its file doesn't tell.
    private func wish(for key: CacheKey) -> ImageRequest? {
        guard let text = details(of: key).url else { return nil }
        do {
            return ImageRequest(try CacheURL(text))
        } catch {
            return nil
        }
    }
}
