/// Why a source cannot be watched, or can no longer be watched: a sentence for the log.
struct PressureFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
