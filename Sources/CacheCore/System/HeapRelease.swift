/// Decides when the allocator's free memory is returned to the kernel.
///
/// Only the memory of the process can be measured cheaply, not the free part of it. What is in use at one return may be
/// free soon after, and then the process does not grow before it could be returned. So it is returned again after
/// longer and longer pauses, as long as the process has more than it once had.
package struct HeapRelease {
    /// Bytes of unused memory that the process may keep.
    static let slack = 2 << 20
    /// The most rounds between two returns if the process does not grow.
    static let longestPause = 128
    /// The rounds in which memory is looked at after much of it was freed. Some of it takes seconds.
    static let eagerRounds = 5

    /// The bytes after the last return, or fewer if some were freed since.
    private var kept = 0
    /// The fewest bytes that ever remained after a return, as far as that says what the process needs.
    private var least = Int.max
    private var pause = 1
    private var rounds = 0
    /// The rounds left in which memory is returned at once.
    private var eager = 0

    /// Whether memory is to be returned even while downloads run.
    package var isEager: Bool { eager > 0 }

    package init() {}

    /// Whether memory is to be returned in this round, in which the process has so many bytes.
    package mutating func isDue(_ bytes: Int) -> Bool {
        kept = min(kept, bytes)
        let isEager = isEager
        eager = max(0, eager - 1)
        if bytes - kept >= Self.slack {
            (pause, rounds) = (1, 0)
            return true
        }
        guard least < bytes, bytes - least >= Self.slack else { return false }
        guard !isEager else { return true }
        rounds += 1
        guard rounds >= pause else { return false }
        (pause, rounds) = (min(pause * 2, Self.longestPause), 0)
        return true
    }

    /// Clients no longer hold memory that they held. They may have had it since the first round.
    package mutating func muchWasFreed() {
        (pause, rounds, eager, least) = (1, 0, Self.eagerRounds, 0)
    }

    /// Memory was returned, and so many bytes remain.
    package mutating func returned(_ bytes: Int) {
        kept = bytes
        // What is still there after the longest pause is needed.
        least = least == 0 && pause == Self.longestPause ? bytes : min(least, bytes)
    }
}
