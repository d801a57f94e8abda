import CacheFetching
import CacheValues
import Foundation
import TestSupport
import Testing

@testable import CacheCore

/// Credentials that a service of the platform gives are asked for again before they end.
@Suite("Store: services for credentials", .timeLimit(.minutes(2)))
struct CredentialServiceTests {
    /// What a service sends: the key ID, and when the credentials end.
    private func document(_ keyID: String, endsIn seconds: Int, isXML: Bool = false) -> [UInt8] {
        let end = Date(timeIntervalSinceNow: TimeInterval(seconds)).ISO8601Format()
        let token = isXML ? "SessionToken" : "Token"
        let members = [
            ("AccessKeyId", keyID), ("SecretAccessKey", "s/+="), (token, "t"), ("Expiration", end),
        ]
        let text =
            isXML
            ? "<A><Credentials>" + members.map { "<\($0)>\($1)</\($0)>" }.joined()
                + "</Credentials></A>"
            : "{" + members.map { "\"\($0)\" : \"\($1)\"" }.joined(separator: ",") + "}"
        return Array(text.utf8)
    }

    private func requests() throws -> BriefRequests {
        let multi = try CurlMulti()
        let environment = RequestEnvironment(TransferSettings().forStore, multi.connections)
        return BriefRequests(multi: multi, environment: environment)
    }

    private func access(_ source: StoreCredentialSource) throws -> StoreAccess {
        let location = try StoreLocation(
            "s3://images", endpoint: "http://127.0.0.1:1", region: "r", style: nil)
        return StoreAccess(
            StoreSettings(location: location, credentials: source), tryInterval: .zero)
    }

    @Test func documentsOfBothFormsAreRead() throws {
        for isXML in [false, true] {
            let text = String(decoding: document("k", endsIn: 3600, isXML: isXML), as: UTF8.self)
            let found = try #require(TemporaryCredentials(text))
            let expected = StoreCredentials(keyID: "k", secret: "s/+=", token: "t")
            #expect(found.credentials == expected)
            let left = (found.end ?? .now) - .now
            #expect(3590...3600 ~= left)
        }
        let escaped = #"{"AccessKeyId":"k","SecretAccessKey":"a\/b","SessionToken":"t"}"#
        let found = try #require(TemporaryCredentials(escaped))
        #expect(found.credentials == StoreCredentials(keyID: "k", secret: "a/b", token: "t"))
        #expect(found.end == nil)
        for text in ["", "{}", #"{"AccessKeyId":1}"#, #"{"AccessKeyId":"k"}"#, "<AccessKeyId>"] {
            #expect(TemporaryCredentials(text) == nil, "\(text)")
        }
        // As a program prints them that is a credential_process of AWS.
        #expect(try CredentialsFile.parse("\n " + escaped, profile: "x").keyID == "k")
    }

    @Test func aTokenInAFileProvesWhoAsks() async throws {
        try await withTestScope { scope in
            let server = try ScriptedOrigin(in: scope)
            let home = try TemporaryDirectory(in: scope)
            try home.write("a.b+c\n", to: "token")
            let source = StoreCredentialSource(environment: [
                "AWS_WEB_IDENTITY_TOKEN_FILE": home.file("token"),
                "AWS_ROLE_ARN": "arn:aws:iam::1:role/x", "AWS_ENDPOINT_URL_STS": server.url(""),
            ])
            server.route("/", .answer(body: document("one", endsIn: 3600, isXML: true)))
            let (access, requests) = (try access(source), try requests())
            #expect(access.renew(requests))
            #expect(try access.credentials()?.keyID == "one")
            // They last.
            #expect(!access.renew(requests))
            #expect(server.requests().count == 1)
            let target = try #require(server.requests().first?.target)
            for part in [
                "Action=AssumeRoleWithWebIdentity", "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fx",
                "WebIdentityToken=a.b%2Bc", "RoleSessionName=cached",
            ] {
                #expect(target.contains(part), "\(target)")
            }
        }
    }

    @Test func theAgentOfAContainerIsAskedAgainBeforeItsCredentialsEnd() async throws {
        try await withTestScope { scope in
            let server = try ScriptedOrigin(in: scope)
            let home = try TemporaryDirectory(in: scope)
            try home.write("secret", to: "token")
            let source = StoreCredentialSource(environment: [
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": server.url("/v1/credentials"),
                "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": home.file("token"),
            ])
            let (access, requests) = (try access(source), try requests())
            #expect { try access.credentials() } throws: { error in
                (error as? StoreCredentialSource.Missing)?.isPending == true
            }
            #expect(!access.renew(requests))
            #expect { try access.credentials() } throws: { error in
                let missing = error as? StoreCredentialSource.Missing
                return missing?.isPending == false
                    && missing?.places.first?.contains("status 404") == true
            }
            server.route("/v1/credentials", .answer(body: document("one", endsIn: 1)))
            #expect(access.renew(requests))
            #expect(try access.credentials()?.keyID == "one")
            // The platform has changed the token.
            try home.write("another", to: "token")
            server.route("/v1/credentials", .answer(body: document("two", endsIn: 1)))
            #expect(access.renew(requests))
            #expect(try access.credentials()?.keyID == "two")
            // While there are no others, these go on to count.
            server.route("/v1/credentials", .answer(500))
            #expect(!access.renew(requests))
            #expect(try access.credentials()?.keyID == "two")
            let tokens = server.requests().map { $0.headers["Authorization"] }
            #expect(tokens == ["secret", "secret", "another", "another"])
        }
    }

    @Test func theMetadataServiceIsAskedWithATokenOfItsOwn() async throws {
        try await withTestScope { scope in
            let server = try ScriptedOrigin(in: scope)
            let roles = "/latest/meta-data/iam/security-credentials/"
            server.route("/latest/api/token", .answer(body: Array("tok".utf8)))
            server.route(roles, .answer(body: Array("role".utf8)))
            server.route(roles + "role", .answer(body: document("one", endsIn: 3600)))
            let source = StoreCredentialSource(.instance(endpoint: server.url("")))
            let access = try access(source)
            #expect(access.renew(try requests()))
            #expect(try access.credentials()?.keyID == "one")
            let asked = server.requests()
            #expect(asked.map(\.method) == ["PUT", "GET", "GET"])
            #expect(asked[0].headers["X-aws-ec2-metadata-token-ttl-seconds"] != nil)
            #expect(
                asked.dropFirst().allSatisfy { $0.headers["X-aws-ec2-metadata-token"] == "tok" })
        }
    }

    @Test func aStoreIsUsedWithTheCredentialsOfAService() async throws {
        try await withTestScope { scope in
            let server = try ScriptedOrigin(in: scope)
            server.route("/credentials", .answer(body: document("one", endsIn: 3600)))
            var store = try ScriptedStore(in: scope)
            store.settings.credentials = StoreCredentialSource(environment: [
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": server.url("/credentials")
            ])
            let fixture = try CacheFixture(in: scope) { [store] in $0.store = store.settings }
            let image = SampleImage.png(byteCount: 5000)
            store.has(try fixture.imageRequest("/a.png"), image)
            let service = try #require(fixture.cache.store)
            try await waitUntil("the credentials to arrive") {
                do { return try service.access.credentials() != nil } catch { return false }
            }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.storeCounters.hits == 1)
            let asked = try #require(store.server.requests().first)
            #expect(asked.headers["Authorization"]?.contains("Credential=one/") == true)
            #expect(asked.headers["x-amz-security-token"] == "t")
        }
    }
}
