import CacheFetching
import CacheValues
import HTTPCaching

/// A store's explanation of a failure: its status, and the code in the document behind it.
///
///     <Error><Code>NoSuchKey</Code><Message>…</Message></Error>
struct StoreExplanation {
    let status: Int
    /// `nil` if there is no document, as behind HEAD.
    let code: String?
    /// Seconds after which the store wants to be asked again.
    let retryAfter: Int64?
    /// How many seconds this machine's clock is ahead of the store's. `nil` if the store does not send its time.
    let clockDifference: Int64?

    init(_ head: ResponseHead, _ document: [UInt8]) {
        status = head.status
        code = Self.code(in: String(decoding: document, as: UTF8.self))
        retryAfter = head.retryAfterSeconds(now: .now)
        clockDifference = head.clockDifference(now: .now)
    }

    private static func code(in document: String) -> String? {
        document.firstMatch(of: /<Code>([A-Za-z0-9.]{1,64})<\/Code>/).map { String($0.1) }
    }

    /// The answer that it means for a question. A server that does not explain itself speaks no S3.
    var answer: StoreAnswer {
        switch (status, code) {
        case (404, "NoSuchKey"): .missing
        case (429, _), (503, _): .overloaded(retryAfter: retryAfter)
        case (500..., _): .failed("the store answered with status \(status)")
        case (400..., let code?) where !Self.general.contains(code):
            .bad("the store does not give it out: \(code)")
        default: .refused(refusal)
        }
    }

    /// The codes that are about the key, the bucket, the clock or the region, and so about every object. All others are about
    /// one, such as `InvalidObjectState` of an object that a rule has moved to an archive.
    private static let general: Set<String> = [
        "AccessDenied", "AccountProblem", "AllAccessDisabled", "AuthorizationHeaderMalformed",
        "ExpiredToken", "IllegalLocationConstraintException", "InvalidAccessKeyId",
        "InvalidBucketName", "InvalidSecurity", "InvalidToken", "NoSuchBucket", "NotSignedUp",
        "PermanentRedirect", "Redirect", "RequestExpired", "RequestTimeTooSkewed",
        "SignatureDoesNotMatch", "TemporaryRedirect", "TokenRefreshRequired",
        "UnauthorizedAccess", "UserSuspended",
    ]

    var refusal: StoreRefusal {
        StoreRefusal(code: code ?? "status \(status)", remedy: remedy)
    }

    /// The remedy for the administrator.
    private var remedy: String {
        switch code {
        case "SignatureDoesNotMatch": "the secret key is not that of the key ID; correct it"
        case "InvalidAccessKeyId": "the store does not know the key ID; correct it"
        case "ExpiredToken", "TokenRefreshRequired", "InvalidToken":
            "the temporary credentials have ended; write new ones into their file"
        case "AccessDenied", "AllAccessDisabled", "AccountProblem":
            "the key may not do this in the bucket; extend its policy (docs/understand/store.md), or set "
                + "CACHED_STORE_MODE"
        case "RequestTimeTooSkewed", "RequestExpired": skewRemedy
        case "NoSuchBucket": "there is no such bucket; create it, or correct CACHED_STORE"
        case "PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed",
            "IllegalLocationConstraintException":
            "the bucket is in another region; set CACHED_STORE_REGION, and the endpoint of that region"
        case "QuotaExceeded", "EntityTooLarge", "InsufficientStorage":
            "the store takes no more; make room there, or raise the quota"
        default: statusRemedy
        }
    }

    private var skewRemedy: String {
        guard let clockDifference else { return "this machine's clock is wrong; set it" }
        let direction = clockDifference > 0 ? "ahead of" : "behind"
        return "this machine's clock is \(abs(clockDifference)) s \(direction) the store's; set it"
    }

    private var statusRemedy: String {
        switch status {
        case 301, 302, 307, 308:
            "the store redirects elsewhere; set CACHED_STORE_ENDPOINT and CACHED_STORE_REGION to that place"
        case 401, 403:
            "the store does not let this key in, or it is none; check the credentials, the policy and "
                + "CACHED_STORE_ENDPOINT"
        case 413, 507: "the store takes no more; make room there, or raise the quota"
        case 429, 500...: "the store fails or has too much to do; its own log says why"
        default: "is CACHED_STORE_ENDPOINT the address of a store that speaks S3?"
        }
    }
}

extension StoreRefusal {
    static func noCredentials(_ missing: StoreCredentialSource.Missing) -> StoreRefusal {
        StoreRefusal(
            code: "no credentials",
            remedy:
                "there are none in \(missing.places.joined(separator: ", ")); write a file there, or "
                + "set CACHED_STORE_CREDENTIALS=none for a public bucket")
    }

    /// The endpoint cannot be reached, and no time heals that. `nil` if the failure is of another kind.
    init?(_ failure: Failure, at endpoint: String) {
        switch failure.kind {
        case .tls: self.init(code: "TLS", remedy: failure.message)
        case .unresolved:
            self.init(
                code: "unknown host",
                remedy: "the name in \(endpoint) does not resolve; correct CACHED_STORE_ENDPOINT")
        case .unreachable where failure.message.hasPrefix("no connection"):
            self.init(
                code: "no connection",
                remedy: "nothing answers at \(endpoint); start the store, or correct the port in "
                    + "CACHED_STORE_ENDPOINT")
        default: return nil
        }
    }

    /// The server answers a question for an image with a page, or something else that is no object.
    static func noObject(at endpoint: String) -> StoreRefusal {
        StoreRefusal(
            code: "no S3",
            remedy:
                "\(endpoint) answers with no object; is CACHED_STORE_ENDPOINT the address of a store?"
        )
    }
}
