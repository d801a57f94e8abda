import ClientCore
import Glibc
import NIOHTTP1

/// A request for an image that an application has signed: `/i/KEY?url=…&sig=…`, with `&expires=…` for one that ends, or
/// `/proxy/SIGNATURE/URL` as Miniflux writes it.
struct SignedRequest {
    let url: String
    let name: ImageName
    /// The Unix second after which the signature counts no more.
    let expiry: Int?

    /// The host and port of the URL.
    var site: String {
        let rest = url.utf8.drop { $0 != UInt8(ascii: "/") }.drop { $0 == UInt8(ascii: "/") }
        let authority = rest.prefix { !"/?#".utf8.contains($0) }
        let host = authority.split(separator: UInt8(ascii: "@")).last ?? authority
        return String(decoding: host, as: UTF8.self).lowercased()
    }

    /// Checks a request. Nothing is looked up before the signature is known to be right.
    init(
        _ request: HTTPRequest, _ signature: Signature, now: Int = time(nil)
    ) throws(Refusal) {
        if request.path.hasPrefix("/proxy/") {
            try self.init(proxied: request.path.dropFirst(7), signature)
        } else {
            try self.init(keyed: request, signature, now)
        }
    }

    private init(
        keyed request: HTTPRequest, _ signature: Signature, _ now: Int
    ) throws(Refusal) {
        guard request.path.hasPrefix("/i/") else { throw .nothingHere }
        guard let query = Query(request.query), let url = query["url"], let given = query["sig"]
        else { throw .query }
        expiry = query["expires"].flatMap { Self.seconds($0) }
        guard query["expires"] == nil || expiry != nil else { throw .query }
        guard signature.matches(given, url, until: expiry) else { throw .signature }
        try Self.checkIsForEverybody(url)
        if let expiry, expiry < now { throw .expired }
        self.url = url
        name = ImageName(of: url)
        guard request.path.dropFirst(3) == name.text else { throw .nothingHere }
    }

    /// The rest of a path of Miniflux's media proxy: the HMAC-SHA-256 of the URL, and the URL, both in Base64.
    private init(proxied path: Substring, _ signature: Signature) throws(Refusal) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let given = Base64URL.decoded(parts[0]),
            let bytes = Base64URL.decoded(parts[1]),
            let url = String(validating: bytes, as: UTF8.self)
        else { throw .nothingHere }
        // The signature of an address that ends is one of another text, which begins with its time.
        guard signature.matches(given, url), url.hasPrefix("http") else { throw .signature }
        try Self.checkIsForEverybody(url)
        self.url = url
        name = ImageName(of: url)
        expiry = nil
    }

    /// Images of an account never leave the machine, whoever signed them.
    private static func checkIsForEverybody(_ url: String) throws(Refusal) {
        guard !url.utf8.contains(UInt8(ascii: "#")) || !url.contains("#as=") else {
            throw .personal
        }
    }

    /// Decimal digits in their only form, because the signature is one of the digits.
    private static func seconds(_ text: String) -> Int? {
        Int(text).flatMap { "\($0)" == text && $0 >= 0 ? $0 : nil }
    }
}

extension Refusal {
    fileprivate static let personal = Refusal(
        .forbidden, "the images of an account are not served")
    fileprivate static let signature = Refusal(.forbidden, "the signature is not valid")
    fileprivate static let expired = Refusal(.forbidden, "the address has expired")
}
