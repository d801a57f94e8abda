internal import SystemPackage

/// What a download finds wrong itself; what libcurl says of it is in `Failure+Curl.swift`.
extension Failure {
    /// The connection just closed, and the image does not show that it is all there.
    static func unvouched(
        _ completeness: ImageReport.Completeness, _ received: Int64
    ) -> Failure {
        completeness == .unverifiable
            ? Failure(
                .unverifiable,
                "the connection closed without saying where the image ends, nor does the image, "
                    + "after \(received) bytes")
            : Failure(
                .truncated,
                "the connection closed before the image's own end, after \(received) bytes")
    }

    static let tooManyHeaders = Failure(
        .protocolError, "the response has more than 64 KiB of headers")

    static let transferCoding = Failure(
        .protocolError, "the body is packed for the transfer, which was not asked for")

    static let twoLengths = Failure(
        .protocolError, "the server promises two different lengths of the same image")

    /// Chunks go before a length, but whose they both are is not to be trusted (RFC 9112 §6.3).
    static func otherLength(_ received: Int64, _ promised: Int64) -> Failure {
        Failure(
            .protocolError,
            "\(received) bytes came in chunks, and the server promised \(promised) besides")
    }

    static let multiplexedUnasked = Failure(
        .protocolError,
        "the server answers by HTTP/2 on a connection for which that was not agreed on")

    /// libcurl repeats the request by HTTP/1.1 where HTTP/2 breaks off with HTTP_1_1_REQUIRED.
    static let begunAgain = Failure(.truncated, "the image began anew amid its bytes")

    static let surplus = Failure(
        .unreachable, "each connection to the server has more on it than was asked for")

    static let crumbs = Failure(
        .protocolError,
        "the body comes in many pieces of less than 16 bytes, which keeps others waiting")

    static let notAnImage = Failure(
        .notAnImage,
        "the bytes are not an image of a known type; the server may have sent an error "
            + "page (CACHED_ACCEPT=any takes anything)")

    /// It begins as one.
    static func noImage(_ type: MediaType, _ received: Int64) -> Failure {
        Failure(
            .notAnImage,
            "the \(received) bytes begin like \(type.name) and hold no image; the server may have cut it "
                + "short, or sent something else")
    }

    static func cutByOrigin(_ type: MediaType, _ received: Int64) -> Failure {
        Failure(
            .notAnImage,
            "the \(received) bytes are the beginning of \(type.name) that by its own lengths has more; "
                + "the server has it cut short")
    }

    static func notAccepted(_ type: MediaType) -> Failure {
        guard type != .other else { return notAnImage }
        return Failure(.notAnImage, "\(type.name) is not accepted unless CACHED_ACCEPT names it")
    }

    static func tooLarge(_ length: Int64?, _ maximum: Int64) -> Failure {
        let size = length.map { "it has \($0) bytes" } ?? "it has more bytes than allowed"
        return Failure(.tooLarge, "\(size); one image may have \(maximum) (--max-image-bytes)")
    }

    static func addressRefused(_ address: IPAddress?) -> Failure {
        let target = address.map(\.description) ?? "an address that is not IP"
        return Failure(
            .addressRefused,
            "the host's address \(target) is not on the public Internet; --allow-network permits it"
        )
    }

    static func noSocket(_ cause: Errno) -> Failure {
        Failure(.unreachable, "no socket for a connection: \(cause); \(cause.remedy)")
    }

    static func http(_ status: Int) -> Failure {
        Failure(.http, "the server answered with status \(status)", httpStatus: status)
    }
}
