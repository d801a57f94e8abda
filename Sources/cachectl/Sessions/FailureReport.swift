import CacheWire

/// The images that a fetch could not get: each is named once, as soon as it has failed.
final class FailureReport {
    /// Whether an unfinished download counts as success, because the command does not wait for it.
    let mayBeInFlight: Bool
    /// Whether nothing is named, because the output says it.
    private let isSilent: Bool

    private var begun: Set<String> = []
    private var named: Set<String> = []

    init(mayBeInFlight: Bool = false, isSilent: Bool = false) {
        (self.mayBeInFlight, self.isSilent) = (mayBeInFlight, isSilent)
    }

    /// Names the images on standard error. Calls `body` before the first.
    func name(_ items: [Item], isLast: Bool, before body: () throws -> Void) rethrows {
        let lines = lines(items, isLast: isLast)
        guard !lines.isEmpty, !isSilent else { return }
        try body()
        for line in lines { StandardError.report(line.url, line.text) }
    }

    /// The lines to print after these items changed.
    ///
    /// - Parameter isLast: whether these are the final states of all images.
    func lines(_ items: [Item], isLast: Bool) -> [(url: String, text: String)] {
        items.compactMap { item in
            if item.isInFlight { begun.insert(item.url) }
            // The failure of an earlier fetch can stand there before this one begins.
            let hasFailed = begun.contains(item.url) && item.lastFailure != nil
            let text = item.failure?.message ?? "it was not downloaded"
            // Lines that are no URLs can be the same and stand for different ones.
            let name = item.hasInvalidURL ? "\(item.url) \(text)" : item.url
            guard !item.isFetched(mayBeInFlight: mayBeInFlight), isLast || hasFailed,
                named.insert(name).inserted
            else { return nil }
            return (item.url, text)
        }
    }
}

extension Item {
    /// Whether a fetch got the image.
    func isFetched(mayBeInFlight: Bool) -> Bool {
        // The failure of an earlier attempt does not matter if a new download has started and the
        // command does not wait for it.
        (mayBeInFlight && phase != nil) || (state == .cached && failure == nil)
    }
}
