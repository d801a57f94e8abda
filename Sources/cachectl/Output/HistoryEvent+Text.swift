import CacheWire
import Glibc

/// What happened to an image, in words.
extension HistoryEvent {
    /// Whether there is no image after it.
    var endsAnImage: Bool {
        switch kind {
        case .failed, .evicted, .removed, .damaged: true
        case .fetched, .confirmed, .derived: false
        }
    }

    /// What became of an image that is not here, and why.
    var outcome: String {
        switch kind {
        case .evicted: "Evicted" + (cause.map { ": \($0)" } ?? "")
        case .removed where reason == .requested: "Removed \(cause ?? "")"
        case .removed: "Removed" + (cause.map { ": \($0)" } ?? "")
        case .damaged: "Removed: its file was damaged"
        case .failed: "Failed: \(cause ?? "unknown")"
        case .fetched, .confirmed, .derived: "Removed while no daemon ran"
        }
    }

    /// Why it happened, in words; `nil` if there is nothing to say.
    var cause: String? {
        if let failure { return failure.message }
        return switch reason {
        case .budget: "the cache was over its budget"
        case .diskSpace: "the disk was nearly full"
        case .pressure: "memory was short"
        case .requested: kind == .removed ? "by \(userName)" : "a user asked for room"
        case .unused: "it was not used for the longest time permitted"
        case .gone: "its origin no longer has it"
        case .notStored: "its origin forbids keeping it"
        case .outside: "another program removed its file"
        case .cancelled: "its download was cancelled by \(userName)"
        case .store: "from the shared store"
        case nil: nil
        }
    }

    /// getpwuid(3).
    private var userName: String {
        guard let user else { return "a user" }
        guard let id = uid_t(exactly: user), let entry = getpwuid(id) else { return "user \(user)" }
        return String(cString: entry.pointee.pw_name)
    }
}
