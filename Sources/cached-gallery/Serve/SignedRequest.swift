import ClientCore
import Glibc
import NIOHTTP1

/// A request for an image that an application has signed: `/i/KEY?url=…&sig=…`, with `&expires=…` for one that ends.
struct SignedRequest {
    let url: String
    let name: ImageName
    /// The Unix second after which the signature counts no more.
    let expiry: Int?

    /// Checks a request. Nothing is looked up before the signature is known to be right.
    init(
        _ request: Request, _ signature: Signature, now: Int = time(nil)
    ) throws(Refusal) {
        guard request.path.hasPrefix("/i/") else { throw .nothingHere }
        guard let query = Query(request.query), let url = query["url"], let given = query["sig"]
        else { throw .query }
        expiry = query["expires"].flatMap { Self.seconds($0) }
        guard query["expires"] == nil || expiry != nil else { throw .query }
        guard signature.matches(given, url, until: expiry) else { throw .signature }
        if let expiry, expiry < now { throw .expired }
        self.url = url
        name = ImageName(of: url)
        guard request.path.dropFirst(3) == name.text else { throw .nothingHere }
    }

    /// Decimal digits in their only form, because the signature is one of the digits.
    private static func seconds(_ text: String) -> Int? {
        Int(text).flatMap { "\($0)" == text && $0 >= 0 ? $0 : nil }
    }
}

extension Refusal {
    fileprivate static let signature = Refusal(.forbidden, "the signature is not valid")
    fileprivate static let expired = Refusal(.forbidden, "the address has expired")
}
