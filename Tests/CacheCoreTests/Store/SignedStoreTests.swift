import CacheKey
import CacheSamples
import CacheValues
import HTTPCaching
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheFetching

/// Who may write to a store is believed only if somebody who is trusted has signed what is there.
@Suite("Store: signatures", .timeLimit(.minutes(5)))
struct SignedStoreTests {
    private let image = SampleImage.png(byteCount: 5000)
    private let other = SampleImage.png(byteCount: 6000, seed: 1)
    private let lasting: HeaderFields = ["Cache-Control": "max-age=1000"]

    /// RFC 8032 §7.1, test 1.
    @Test func signaturesAreThoseOfTheStandard() throws {
        let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
        let known = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
        let key = try #require(SigningKey("web-1:\(seed):\(known)"))
        #expect(key.verifying.text == "web-1:\(known)")
        let signature =
            "web-1:e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bac"
            + "c61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        #expect(key.signature(of: "") == signature)
        #expect(key.verifying.verifies(signature, of: ""))
        #expect(!key.verifying.verifies(signature, of: "a"))
    }

    @Test func keysAreTextAndOtherTextsAreNone() throws {
        let key = try #require(SigningKey(name: "web-1"))
        let again = try #require(SigningKey(key.text))
        #expect(again.text == key.text)
        #expect(VerifyingKey(key.verifying.text) == key.verifying)
        #expect(try #require(SigningKey(name: "web-1")).text != key.text)
        let other = try #require(SigningKey(name: "web-1")).verifying.text.dropFirst(6)
        let parts = key.text.split(separator: ":").map(String.init)
        for text in [
            "", "web-1", key.verifying.text, "web 1:\(parts[1]):\(parts[2])",
            "web-1:\(parts[1]):\(other)", key.text + "0",
        ] {
            #expect(SigningKey(text) == nil, "\(text)")
        }
        for text in ["", "web-1", key.text, "web-1:12", ":\(parts[2])"] {
            #expect(VerifyingKey(text) == nil, "\(text)")
        }
        #expect(SigningKey(name: "") == nil && SigningKey(name: "a:b") == nil)
    }

    /// Objects as others have put them there, and whether they count.
    private enum Put: CaseIterable {
        case signed, byTheFormerKey, unsigned, byAStranger, underATrustedName, ofAnotherURL
        case ofAnotherImage, withAnotherRecord
    }

    private func signed(_ fields: HeaderFields, as other: HeaderFields) -> HeaderFields {
        let signature = other["x-amz-meta-signature"] ?? ""
        return HeaderFields([(name: "x-amz-meta-signature", value: signature)])
            .withDefaults(fields)
    }

    @Test func onlyWhatATrustedKeyHasSignedCounts() async throws {
        let (key, former) = (SigningKey(name: "web-2"), SigningKey(name: "web-1"))
        let (stranger, forger) = (SigningKey(name: "mallory"), SigningKey(name: "web-2"))
        try await withTestScope { scope in
            var store = try ScriptedStore(in: scope)
            store.settings.trusted = [key, former].compactMap { $0?.verifying }
            let fixture = try CacheFixture(in: scope) { [store] in $0.store = store.settings }
            let another = ImageRequest(Sample.url("x"))
            var count = 0
            for put in Put.allCases {
                let path = "/\(put).png"
                let request = try fixture.imageRequest(path)
                let own = store.fields(request, image)
                let good = store.fields(request, image, signedBy: key)
                let fields: HeaderFields =
                    switch put {
                    case .signed: good
                    case .byTheFormerKey: store.fields(request, image, signedBy: former)
                    case .unsigned: own
                    case .byAStranger: store.fields(request, image, signedBy: stranger)
                    case .underATrustedName: store.fields(request, image, signedBy: forger)
                    case .ofAnotherURL:
                        signed(own, as: store.fields(another, image, signedBy: key))
                    case .ofAnotherImage: signed(store.fields(request, other), as: good)
                    case .withAnotherRecord:
                        signed(store.fields(request, image, lifetime: 99_999), as: good)
                    }
                let isGood = [.signed, .byTheFormerKey].contains(put)
                count += isGood ? 1 : 0
                store.server.route(
                    store.path(request),
                    .answer(headers: fields, body: put == .ofAnotherImage ? other : image))
                fixture.origin.route(path, .answer(headers: lasting, body: image))
                #expect(try await fixture.fetch(path).failures.isEmpty)
                #expect(fixture.storeCounters.hits == count, "\(put)")
                #expect(fixture.origin.requests(path).count == (isGood ? 0 : 1), "\(put)")
            }
            #expect(fixture.storeCounters.bad == Put.allCases.count - count)
        }
    }

    @Test func aWriterSignsWhatItPutsThere() async throws {
        let key = try #require(SigningKey(name: "web-1"))
        try await withTestScope { scope in
            var store = try ScriptedStore(in: scope, mode: (true, true))
            (store.settings.signing, store.settings.trusted) = (key, [key.verifying])
            let fixture = try CacheFixture(in: scope) { [store] in $0.store = store.settings }
            let path = store.path(try fixture.imageRequest("/a.png"))
            store.server.route(path) { request in
                request.method == "PUT" ? .answer(200) : .storeError(404, "NoSuchKey")
            }
            fixture.origin.route("/a.png", .answer(headers: lasting, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            await CacheFixture.drain(fixture.cache)
            let put = try #require(
                store.server.requests(path).last { $0.headers["x-amz-meta-record"] != nil })
            let metadata = StoreMetadata(
                record: put.headers["x-amz-meta-record"], digest: put.headers["x-amz-meta-sha256"],
                urlDigest: put.headers["x-amz-meta-url-digest"],
                signature: put.headers["x-amz-meta-signature"])
            #expect(metadata.isSigned(byOneOf: [key.verifying]))
        }
    }
}
