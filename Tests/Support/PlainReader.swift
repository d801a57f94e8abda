import CTestSupport

/// A program in C that knows the directory and nothing else; `docs/lookup/disk-format.md`, "Reading without the daemon".
public enum PlainReader {
    /// The result for a name.
    public enum State: Hashable, Sendable {
        case missing
        case interrupted(received: Int, of: Int?)
        case inFlight(received: Int, of: Int?)
        case cached
    }

    /// Reads the state of an image by its path.
    public static func state(ofPath path: String) -> State {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let directory = parts.dropLast().joined(separator: "/")
        let image = ctest_read_image(directory, String(parts[parts.count - 1]))
        let (received, total) = (Int(image.received), image.total < 0 ? nil : Int(image.total))
        switch image.state {
        case CTEST_CACHED: return .cached
        case CTEST_IN_FLIGHT: return .inFlight(received: received, of: total)
        case CTEST_INTERRUPTED: return .interrupted(received: received, of: total)
        default: return .missing
        }
    }
}
