import CacheValues
internal import ImageFormats

/// Failures of responses whose body is not a complete, accepted image.
extension Failure {
    /// The connection closed, and neither the response nor the image shows that all bytes arrived.
    static func unvouched(
        _ completeness: ImageReport.Completeness, _ received: Int64
    ) -> Failure {
        completeness == .unverifiable
            ? Failure(
                .unverifiable,
                "the connection closed after \(received) bytes, and neither the server nor the image says "
                    + "where the image ends")
            : Failure(
                .truncated,
                "the connection closed before the image's own end, after \(received) bytes")
    }

    /// Chunks take precedence over a length, but a response with both cannot be trusted (RFC 9112 §6.3).
    static func otherLength(_ received: Int64, _ promised: Int64) -> Failure {
        Failure(
            .protocolError,
            "\(received) bytes came in chunks, but the server promised \(promised)")
    }

    static let bomb = Failure(
        .protocolError,
        "the body unpacks to more than 100 times its size, so it was not unpacked any further")

    static let notAnImage = Failure(
        .notAnImage,
        "the bytes are not an image of a known type; the server may have sent an error "
            + "page (CACHED_ACCEPT=any accepts anything)")

    /// The bytes begin like an image.
    static func noImage(_ type: MediaType, _ received: Int64) -> Failure {
        Failure(
            .notAnImage,
            "the \(received) bytes begin like \(type.name) but hold no image; the server may have cut it "
                + "short, or sent something else")
    }

    static func malformed(_ type: MediaType, _ received: Int64) -> Failure {
        Failure(
            .notAnImage,
            "the \(received) bytes begin like \(type.name) but break its rules, so that no viewer shows them; "
                + "the server's copy is damaged")
    }

    static func cutByOrigin(_ type: MediaType, _ received: Int64) -> Failure {
        Failure(
            .notAnImage,
            "the \(received) bytes are only the beginning of \(type.name), whose own lengths promise more; "
                + "the server's copy is cut short")
    }

    static func tooManyPixels(_ size: PixelSize, atMost limit: Int64) -> Failure {
        Failure(
            .tooLarge,
            "the image has \(size.width) x \(size.height) pixels; one image can have \(limit) "
                + "(--max-pixels)")
    }

    static func notAccepted(_ type: MediaType) -> Failure {
        guard type != .other else { return notAnImage }
        return Failure(.notAnImage, "\(type.name) is not accepted unless CACHED_ACCEPT names it")
    }
}
