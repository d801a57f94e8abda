import NIOHTTP1

/// Fields of every response that keep a browser from trusting it too much.
enum SecurityHeaders {
    /// For the page: nothing but its own files, no inline script, and no text that becomes markup.
    static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'; trusted-types 'none'"

    /// For an image, whose bytes come from anywhere.
    static let imagePolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

    static func all(_ policy: String) -> HTTPHeaders {
        [
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
        ]
    }
}
