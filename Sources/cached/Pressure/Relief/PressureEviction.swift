/// Whether reports of memory pressure evict images: `--pressure-evicts`.
enum PressureEviction: String, Sendable, Hashable, CaseIterable {
    /// Requests and reports of the service manager do. Pressure that the daemon found does if that helps.
    case auto
    /// All do.
    case always
    /// Only requests of people do.
    case never
}
