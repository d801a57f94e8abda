import CacheValues
internal import SystemPackage

/// Failures that a request finds itself. `Failure+Curl.swift` translates those of libcurl.
extension Failure {
    static let tooManyHeaders = Failure(
        .protocolError, "the response has more than 64 KiB of headers")

    static let transferCoding = Failure(
        .protocolError, "the body is compressed for the transfer, which was not asked for")

    static let twoLengths = Failure(
        .protocolError, "the server promises two different lengths of the same image")

    /// See ``Request/claimsHTTP2``.
    static let multiplexedUnasked = Failure(
        .protocolError,
        "the server answers by HTTP/2 on a connection that did not agree on HTTP/2")

    /// See ``Request/repeatsResponse(_:)``.
    static let beganAgain = Failure(
        .truncated, "the server broke off the image and began it again")

    /// See ``Request/metStrayData(_:isRepeated:)``.
    static let strayData = Failure(
        .unreachable, "each connection to the server has data on it that was not asked for")

    /// See ``Request/hasTooMuchFraming()``.
    static let framing = Failure(
        .protocolError,
        "the server sends far more bytes around the image than the image has; only the server can fix it"
    )

    static func tooManyRedirects(_ limit: Int) -> Failure {
        Failure(.redirect, "more than \(limit) redirects")
    }

    static let redirectWithoutTLS = Failure(
        .redirect,
        "redirected from https to http, where the image could be read and changed on its way; an http URL "
            + "of it can be fetched as such")

    static func addressRefused(
        _ address: IPAddress?, _ port: UInt16 = 443, isForGuests: Bool = false
    ) -> Failure {
        let target = address.map(\.description) ?? "an address that is not IP"
        guard !AddressPolicy.isBad(port) else {
            return Failure(
                .addressRefused,
                "port \(port) belongs to another protocol, as in browsers; --allow-network permits it for \(target)"
            )
        }
        return Failure(
            .addressRefused,
            "the host's address \(target) is not on the public Internet, or is this machine's own; "
                + (isForGuests
                    ? "the daemon asks no such host for a program in a sandbox"
                    : "--allow-network permits it")
        )
    }

    static func noSocket(_ cause: Errno) -> Failure {
        Failure(.unreachable, "no socket could be opened: \(cause); \(cause.remedy)")
    }
}
