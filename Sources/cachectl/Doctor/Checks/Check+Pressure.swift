extension Check {
    /// Whether memory pressure is watched, and whether it was ever reported.
    static let pressure = Check("pressure") { examination in
        guard let source = examination.text("pressureSource") else { return [] }
        guard source != "off" else {
            return [
                .note(
                    "memory pressure is not watched",
                    fix:
                        "start the daemon without MEMORY_PRESSURE_WATCH=/dev/null, on a kernel with "
                        + "/proc/pressure/memory (psi=1)")
            ]
        }
        let count = examination.int("pressureReactions") ?? 0
        guard count > 0, let at = examination.int("pressureLastAt") else {
            return [.ok("\(source) is watched; no pressure since the daemon started")]
        }
        let age = TimeText.describe(from: at, to: examination.now)
        return [
            .ok(
                "\(source) is watched; \(CountText.describe(count, "reaction")), the last one \(age) "
                    + "ago")
        ]
    }
}
