extension Check {
    /// Whether the daemon uses the proxy that other programs use.
    static let proxy = Check("proxy") { examination in
        guard !examination.stats.isEmpty else { return [] }
        if let proxy = examination.text("proxy") {
            let names = ", which looks names up: only literal addresses are refused"
            return [.ok("downloads use \(proxy)\(proxy.hasPrefix("socks5h:") ? names : "")")]
        }
        guard !examination.proxyVariables.isEmpty else { return [.ok("downloads use no proxy")] }
        let names = examination.proxyVariables.joined(separator: ", ")
        return [
            .note(
                "the environment has a proxy (\(names)), which the daemon does not use",
                fix: "name it with --proxy or CACHED_PROXY, unless downloads work without it")
        ]
    }
}
