import CacheWire

extension Check {
    /// Whether servers learn whom to contact about the downloads.
    static let contact = Check("contact") { examination in
        guard case .bool(let hasContact)? = examination.stats["hasContact"] else { return [] }
        let agent = examination.text("userAgent") ?? "-"
        guard !hasContact else { return [.ok("servers see the User-Agent \(agent)")] }
        return [
            .note(
                "servers see the User-Agent \(agent), without a contact; some refuse such requests",
                fix: "give a web or mail address with --contact or CACHED_CONTACT")
        ]
    }
}
