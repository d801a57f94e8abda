extension Check {
    /// Whether the store that several machines share lets this one in.
    static let store = Check("store") { examination in
        guard let location = examination.text("storeLocation") else { return [] }
        let states = [examination.text("storeState"), examination.text("storeWriteState")]
        let error = examination.text("storeLastError") ?? "it gave no reason"
        if states.contains("refused") {
            return [
                .wrong(
                    "the store \(location) refuses this machine: \(error)",
                    fix: "`cachectl store` asks it step by step")
            ]
        }
        if states.contains("late") {
            return [
                .note(
                    "the store \(location) is left alone for now: \(error)",
                    fix: "`cachectl store` asks it at once")
            ]
        }
        let questions = examination.int("storeLookups") ?? 0
        guard questions < 1000 || examination.int("storeHits") != 0 else {
            return [
                .note(
                    "\(questions) questions to the store \(location), and it had none of the images",
                    fix: "do all machines have the same CACHED_STORE?")
            ]
        }
        return [.ok("the store \(location) is used")]
    }
}
