extension Failure.Kind {
    /// Failures that another network may not have. A portal of a network answers in place of the origin.
    package static let ofTheNetwork: [Failure.Kind] = [
        .unresolved, .unreachable, .timeout, .tls, .truncated, .protocolError, .addressRefused,
        .notAnImage,
    ]
}

extension Failure {
    /// Whether another attempt a little later can succeed: after a connection that failed or broke, after
    /// a time-out, and after a status that means "not now".
    package var isTransient: Bool {
        switch kind {
        case .unresolved, .unreachable, .timeout, .truncated: true
        case .http: httpStatus.map { $0 == 408 || $0 == 429 || 500..<600 ~= $0 } ?? false
        default: false
        }
    }

    /// Seconds for which a failure of this class is remembered. `nil` for a failure that concerns only its
    /// caller or this machine. `docs/lookup/failures.md` has the table.
    package var defaultNegativeTTL: Int64? {
        switch kind {
        case .http: isTransient ? 10 : 60
        case .unresolved, .unreachable, .timeout, .truncated: 10
        case .tls, .redirect, .protocolError, .addressRefused: 60
        case .notAnImage where isStandIn: 30
        case .notAnImage, .tooLarge, .unverifiable, .underivable: 300
        case .invalidURL, .invalidHeaders, .digestMismatch, .obstructed, .damaged, .storage,
            .noRoom, .notCached, .tooManyFiles, .deadline, .prefetchOff, .removed, .shuttingDown:
            nil
        }
    }

    /// Whether a stale copy can take the place of the response (RFC 5861 §4): the origin was not able to
    /// give an answer, rather than gave one that is an error.
    package var allowsStaleIfError: Bool {
        switch kind {
        case .unresolved, .unreachable, .timeout, .tls, .truncated, .protocolError: true
        case .http: httpStatus.map { $0 == 408 || $0 == 429 || $0 >= 500 } ?? false
        case .notAnImage: isStandIn
        default: false
        }
    }
}
