import CacheFetching
import CacheValues
import Testing

@Suite("Failures")
struct FailureTests {
    @Test(arguments: Failure.Kind.allCases)
    func staleServesIfTheOriginCouldNotAnswer(kind: Failure.Kind) {
        let could: Set<Failure.Kind> = [
            .unresolved, .unreachable, .timeout, .tls, .truncated, .protocolError,
        ]
        #expect(Failure(kind, "").allowsStaleIfError == could.contains(kind))
    }

    @Test(arguments: [
        (500, true), (503, true), (429, true), (408, true), (404, false), (403, false),
    ])
    func staleServesInsteadOfServerErrors(status: Int, serves: Bool) {
        #expect(Failure(.http, "", httpStatus: status).allowsStaleIfError == serves)
    }
}
