import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheModel

@Suite("Cache: certificates", .timeLimit(.minutes(5)))
struct CertificateTests {
    private enum Fault: CaseIterable {
        case expired, ofAnotherName, ofUnknownAuthority

        var message: String {
            switch self {
            case .expired: "has expired"
            case .ofAnotherName: "is not for this host's name"
            case .ofUnknownAuthority:
                "comes without its issuer: the server sends an incomplete chain, or its authority is not "
                    + "trusted (--ca-file adds one)"
            }
        }
    }

    /// Each fault has another remedy.
    @Test(arguments: Fault.allCases)
    private func theFailureNamesTheFaultOfTheCertificate(fault: Fault) async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let issuer =
                fault == .ofUnknownAuthority ? try await CertificateAuthority(in: scope) : authority
            let identity = try await issuer.issue(
                for: [fault == .ofAnotherName ? "DNS:other.test" : "IP:127.0.0.1"],
                days: fault == .expired ? 0 : 2)
            let origin = try ScriptedOrigin(in: scope)
            let front = try await TLSTerminator(identity, to: origin, in: scope)
            let fixture = try CacheFixture(in: scope, origin: origin) {
                $0.transfers.certificateFile = authority.certificate
            }
            let wish = ImageRequest(try CacheURL(front.url("a.png")))
            let outcome = try await fixture.outcome(
                of: fixture.cache.fetch([wish], FetchOptions()))
            let failure = outcome.failures[wish.key]
            #expect(failure?.kind == .tls)
            #expect(failure?.message == "the server's certificate \(fault.message)")
            #expect(origin.requests().isEmpty)
        }
    }
}
