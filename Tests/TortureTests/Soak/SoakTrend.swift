import TestSupport

/// How the resources of a process developed over time.
struct SoakTrend {
    let samples: [ProcessUsage]

    init(_ samples: [ProcessUsage]) {
        self.samples = samples
    }

    /// Nothing grew from the second quarter to the last; the first is for warming up.
    func check(_ figures: inout [String]) throws {
        let quarter = samples.count / 4
        let (early, late) = (samples[quarter..<(2 * quarter)], samples.suffix(quarter))
        let memory = (median(early, \.anonymousBytes), median(late, \.anonymousBytes))
        figures.append("RssAnon \(memory.0 >> 10) kiB early, \(memory.1 >> 10) late")
        let descriptors = (median(early, \.descriptors), median(late, \.descriptors))
        let threads = (median(early, \.threads), median(late, \.threads))
        figures.append("\(descriptors.0) descriptors early, \(descriptors.1) late")
        figures.append("\(threads.0) threads early, \(threads.1) late")
        // A sanitizer keeps freed memory.
        guard isSanitized || memory.1 <= memory.0 + memory.0 / 20 + 2 << 20 else {
            throw TestFailure("memory grew from \(memory.0) to \(memory.1) bytes")
        }
        // Descriptors come and go with the running downloads.
        guard descriptors.1 <= descriptors.0 + 64, threads.1 <= threads.0 + 4 else {
            throw TestFailure("descriptors grew to \(descriptors.1), threads to \(threads.1)")
        }
    }

    private func median(
        _ samples: some Sequence<ProcessUsage>, _ figure: (ProcessUsage) -> Int
    ) -> Int {
        let sorted = samples.map(figure).sorted()
        return sorted[sorted.count / 2]
    }
}
