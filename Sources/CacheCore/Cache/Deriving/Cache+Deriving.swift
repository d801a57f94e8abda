import CacheFetching
internal import CacheKey
import CacheModel
import CacheValues
import HTTPCaching
import ImageFormats
internal import Logging

/// Deriving images from others.
extension Cache {
    /// Looks for an image to derive another one from, and asks for the original if there is none. This runs on the
    /// directory's thread.
    func findOriginal(of key: CacheKey, _ id: FlightID, _ image: DerivedImage) {
        guard settings.deriver != nil || image.name.side == nil else {
            return derivingFailed(key, id, .noProgram)
        }
        let original = ImageRequest(
            image.url.source, named: image.name.source, fields: image.fields)
        if !image.isRefresh, let larger = largerImage(than: image.name, original.key) {
            return run { $0.fetching.originalFound(for: key, id, larger, &$1) }
        }
        let options = FetchOptions(
            priority: image.priority, isRefresh: image.isRefresh, client: image.client)
        let waiter = run { state, _ in state.fetching.originalWanted(for: key, id, options) }
        guard let waiter else { return }
        want([original], options, by: waiter)
        complete(waiter)
        run { $0.fetching.originalAsked(for: key, id, by: waiter, &$1) }
    }

    /// A fresh image that was derived from the same original and is larger, if the original itself is not cached.
    private func largerImage(than name: CacheURL, _ original: CacheKey) -> CacheKey? {
        guard let side = name.side else { return nil }
        let larger = CacheURL.sides.filter { $0 > side }
            .compactMap { try? name.derived(side: $0) }.map { CacheKey($0) }
        let answers = lookupInPlace([original] + larger)
        guard !answers[0].isCached else { return nil }
        return zip(larger, answers.dropFirst()).first { _, answer in
            guard case .cached(let facts, _, _) = answer else { return false }
            return !facts.isStale(at: .now)
        }?.0
    }

    /// Derives an image, on a thread of the deriver.
    ///
    /// - Parameter process: the program that makes images. Started if it is needed; `nil` again if it was lost.
    func derive(_ work: Derivation, _ process: inout DeriverProcess?) {
        let (key, id) = (work.key, work.flight)
        guard read({ $0.fetching.downloads.flight(key, id)?.isDeriving == true }) else { return }
        do throws(Failure) {
            guard let source = openOriginal(work.source),
                let original = directory.entryRecord(of: work.source)
            else { throw Failure.originalGone }
            var record = original
            record.validators.original = original.validators.original ?? original.digestPrefix
            (record.isPinned, record.isShareable, record.isFromStore) = (false, false, false)
            if let confirmed = confirmation(of: work, record) {
                return run(with: .confirmed(confirmed)) {
                    $0.fetching.derivedConfirmed(key, id, &$1)
                }
            }
            let bytes = try bytes(of: source, original, work, &process)
            record.take(try checked(bytes, work, original))
            record.size = Int64(bytes.count)
            _ = try reserve(for: key, id, needed: record.size, length: record.size)
            let image = StagedImage(
                flight: id, key: key, body: .bytes(bytes), url: work.image.url, record: record,
                namedBy: work.image.name)
            run(with: .staged(image)) { $0.fetching.derived(key, id, size: image.record.size, &$1) }
        } catch {
            derivingFailed(key, id, error)
        }
    }

    private func derivingFailed(_ key: CacheKey, _ id: FlightID, _ failure: Failure) {
        run { $0.fetching.derivingFailed(key, id, failure, now: .now, &$1) }
    }

    /// The new record of the image that there is, if it was derived from the same bytes.
    private func confirmation(of work: Derivation, _ record: EntryRecord) -> Revalidation? {
        guard let asked = directory.entryRecord(of: work.key), asked.removeAt == nil,
            record.validators.original != 0,
            asked.validators.original == record.validators.original
        else { return nil }
        var confirmed = asked
        confirmed.fetchedAt = min(asked.fetchedAt, record.fetchedAt)
        (confirmed.freshUntil, confirmed.terms) = (record.freshUntil, record.terms)
        (confirmed.validators, confirmed.removeAt) = (record.validators, record.removeAt)
        return Revalidation(
            flight: work.flight, key: work.key, url: work.image.url, asked: asked,
            record: confirmed)
    }

    /// The bytes of the derived image: those of its original, if only the account differs, or if that is small enough and
    /// upright.
    private func bytes(
        of source: OpenedEntry, _ record: EntryRecord, _ work: Derivation,
        _ process: inout DeriverProcess?
    ) throws(Failure) -> [UInt8] {
        let side = work.image.name.side
        guard side == nil || record.mediaType.isDerivable else {
            throw .underivable("the original is \(record.mediaType.name)")
        }
        guard let side, !record.fits(side) else {
            guard let bytes = directory.bytes(of: source, record.size) else { throw .originalGone }
            return bytes
        }
        guard let program = settings.deriver else { throw .noProgram }
        do {
            let running = try process ?? DeriverProcess(program)
            process = running
            return try running.derive(from: source.descriptor, side: side) {
                self.read { !$0.fetching.isDraining }
            }
        } catch DeriverProcess.Problem.refused(let reason) {
            throw .underivable(reason.split(separator: "\n").first.map(String.init) ?? "no reason")
        } catch DeriverProcess.Problem.lost {
            process = nil
            logger.warning(
                "cached-deriver failed at an image",
                metadata: ["url": "\(work.image.name)", "path": "\(path(of: work.source))"])
            throw .underivable("cached-deriver ended or took too long")
        } catch {
            throw Failure(.storage, "\(program) cannot be started: \(error)")
        }
    }

    /// The findings about the bytes. Throws unless they are a whole image of a permitted size.
    private func checked(
        _ bytes: [UInt8], _ work: Derivation, _ original: EntryRecord
    ) throws(Failure) -> ImageReport {
        var inspector = ImageInspector()
        bytes.withUnsafeBytes { inspector.consume($0) }
        let report = inspector.finish()
        guard let side = work.image.name.side else { return report }
        guard let width = report.width, let height = report.height,
            max(width, height) <= side, report.orientation == .upright,
            report.completeness == .whole || original.fits(side)
        else { throw .underivable("what cached-deriver made is no whole image of that size") }
        return report
    }
}

extension MediaType {
    /// Whether smaller images are made of the type; `docs/lookup/variants.md` has a table.
    fileprivate var isDerivable: Bool { self != .svg && self != .other }
}

extension EntryRecord {
    /// Whether a viewer shows the stored pixels as they are, at most so many on each side.
    fileprivate func fits(_ side: Int) -> Bool {
        guard let width, let height else { return false }
        return max(width, height) <= side && orientation == .upright
    }
}

extension Failure {
    fileprivate static let noProgram = Failure(
        .underivable,
        "the program cached-deriver is missing; install the package cached-deriver and restart cached"
    )
    fileprivate static let originalGone = Failure(
        .removed, "its original was removed while it was on its way; ask again")

    fileprivate static func underivable(_ reason: String) -> Failure {
        Failure(.underivable, "no smaller image can be made: \(reason)")
    }
}
