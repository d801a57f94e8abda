import ArgumentParser
import CacheFetching
import CacheValues
import Glibc
import HTTPCaching
import TestSupport
import Testing

@testable import CacheCore
@testable import cached

/// The settings about a store that several machines share.
@Suite("Settings: store", .timeLimit(.minutes(1)))
struct StoreSettingsTests {
    private let keys = [
        "HOME": "/h", "XDG_RUNTIME_DIR": "/run/user/1", "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": "s/+=",
    ]

    private func resolve(_ environment: [String: String]) throws -> Settings {
        try Settings.resolve(
            DaemonOptions.parse([]), keys.merging(environment) { $1 })
    }

    private func failure(_ environment: [String: String]) throws -> StartFailure {
        let environment = keys.merging(environment) { $1 }.filter { !$1.isEmpty }
        return try #require(throws: StartFailure.self) {
            try Settings.resolve(DaemonOptions.parse([]), environment)
        }
    }

    @Test func withoutABucketThereIsNoStore() throws {
        let settings = try resolve([
            "AWS_ENDPOINT_URL": "http://x", "CACHED_STORE_ENDPOINT": "http://y",
        ])
        #expect(settings.cache.store == nil)
        #expect(!settings.cache.transfers.caching.isShared)
    }

    @Test(arguments: [
        "CACHED_STORE_ENDPOINT": "nonsense", "CACHED_STORE_REGION": "two words",
        "CACHED_STORE_MODE": "bogus", "CACHED_STORE_TIMEOUT": "soon",
    ])
    func aWrongValueIsAnErrorWithoutABucketToo(name: String, value: String) throws {
        #expect(try failure([name: value]).message.contains("\"\(value)\""))
    }

    @Test func twoSettingsAreEnough() throws {
        let settings = try resolve([
            "CACHED_STORE": "s3://images/prod", "CACHED_STORE_ENDPOINT": "http://127.0.0.1:8333",
        ])
        let store = try #require(settings.cache.store)
        #expect(store.location.description == "s3://images/prod")
        #expect(store.location.endpoint == "http://127.0.0.1:8333")
        #expect(store.location.region == "us-east-1" && store.location.style == .path)
        #expect(store.policy == StorePolicy())
        #expect(store.flush == .seconds(2) && store.maximumRate == nil)
        #expect(settings.cache.transfers.caching.isShared)
    }

    @Test func theNamesThatOtherProgramsKnowCount() throws {
        var environment = [
            "CACHED_STORE": "s3://images", "AWS_ENDPOINT_URL": "http://one",
            "AWS_DEFAULT_REGION": "first",
        ]
        var location = try resolve(environment).cache.store?.location
        #expect(location?.endpoint == "http://one" && location?.region == "first")
        environment["AWS_ENDPOINT_URL_S3"] = "http://two"
        environment["AWS_REGION"] = "second"
        location = try resolve(environment).cache.store?.location
        #expect(location?.endpoint == "http://two" && location?.region == "second")
        environment["CACHED_STORE_ENDPOINT"] = "http://three"
        environment["CACHED_STORE_REGION"] = "third"
        location = try resolve(environment).cache.store?.location
        #expect(location?.endpoint == "http://three" && location?.region == "third")
    }

    @Test func keysAreReadFromTheirFiles() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let key = try #require(SigningKey(name: "web-1"))
            let friend = try #require(SigningKey(name: "web-2"))
            let (sign, trust) = (home.file("sign"), home.file("trust"))
            try home.write(key.text + "\n", to: "sign")
            try home.write("# the others\n\n\(friend.verifying.text)\n", to: "trust")
            let environment = [
                "CACHED_STORE": "s3://images", "CACHED_STORE_SIGN": sign,
                "CACHED_STORE_TRUST": trust,
            ]
            #expect(chmod(sign, 0o644) == 0)
            #expect(try failure(environment).message.contains("chmod 600"))
            #expect(chmod(sign, 0o600) == 0)
            let store = try #require(try resolve(environment).cache.store)
            #expect(store.signing?.text == key.text)
            #expect(store.trusted == [friend.verifying, key.verifying])
            try home.write(friend.text, to: "trust")
            let message = try failure(environment).message
            #expect(message.contains("public keys") && !message.contains(friend.text))
            try home.write(key.verifying.text, to: "sign")
            #expect(chmod(sign, 0o600) == 0)
            #expect(try failure(environment).message.contains("private key"))
            let missing = ["CACHED_STORE_TRUST": home.file("none")]
            #expect(try failure(missing).message.contains("a file of keys"))
        }
    }

    @Test func otherSettingsAreApplied() throws {
        let store = try #require(
            try resolve([
                "CACHED_STORE": "s3://images", "CACHED_STORE_MODE": "read",
                "CACHED_STORE_TIMEOUT": "300ms", "CACHED_MAX_RATE": "4MB",
                "CACHED_STORE_STYLE": "path", "CACHED_SHARED": "no",
            ]).cache.store)
        #expect(store.policy.reads && !store.policy.writes)
        #expect(store.policy.timeout == .milliseconds(300) && store.maximumRate == 1_000_000)
        #expect(store.location.style == .path)
    }

    @Test(arguments: [
        ("CACHED_STORE", "http://images"), ("CACHED_STORE", "s3://"),
        ("CACHED_STORE", "s3://Images"), ("CACHED_STORE", "s3://im..ages"),
        ("CACHED_STORE", "s3://images/A"), ("CACHED_STORE_ENDPOINT", "http://x/path"),
        ("CACHED_STORE_ENDPOINT", "http://x?query"), ("CACHED_STORE_ENDPOINT", "x"),
        ("CACHED_STORE_MODE", "write-only"), ("CACHED_STORE_STYLE", "host"),
        ("CACHED_STORE_TIMEOUT", "0s"), ("CACHED_STORE_TIMEOUT", "1x"),
        ("CACHED_STORE_MAX_RATE", "fast"), ("CACHED_STORE_REGION", "eu west"),
        ("AWS_ENDPOINT_URL_S3", "http://x/path"),
    ])
    func aWrongValueIsAnErrorThatNamesIt(name: String, value: String) throws {
        let failure = try failure(
            ["CACHED_STORE": "s3://images"].merging([name: value]) { $1 })
        #expect(failure.exitCode == .configuration)
        #expect(failure.message.contains(name))
        #expect(failure.message.contains("\"\(value)\""))
    }

    @Test func aPasswordOrAKeyIsNotShown() throws {
        let endpoint = try failure([
            "CACHED_STORE": "s3://images", "CACHED_STORE_ENDPOINT": "http://u:pa55@x",
        ])
        #expect(!endpoint.message.contains("pa55"))
        let key = try failure([
            "CACHED_STORE": "s3://images", "CACHED_STORE_CREDENTIALS": "AKIA:pa55",
        ])
        #expect(!key.message.contains("pa55"))
        #expect(key.message.contains("CACHED_STORE_CREDENTIALS"))
    }

    /// They may come later.
    @Test func credentialsNeedNotBeThere() throws {
        let settings = try Settings.resolve(
            DaemonOptions.parse([]),
            [
                "HOME": "/nonexistent", "CACHED_STORE": "s3://images",
                "CREDENTIALS_DIRECTORY": "/nonexistent/credentials",
            ])
        #expect(
            settings.cache.store?.credentials.files == [
                "/nonexistent/credentials/aws", "/nonexistent/.aws/credentials",
            ])
        let open = try Settings.resolve(
            DaemonOptions.parse([]),
            ["HOME": "/h", "CACHED_STORE": "s3://images", "CACHED_STORE_CREDENTIALS": "none"])
        #expect(open.cache.store?.credentials.isSigning == false)
    }

    @Test func anUnknownNameSuggestsTheNearest() throws {
        let failure = try failure(["CACHED_STORE_MODUS": "read"])
        #expect(failure.message.contains("CACHED_STORE_MODE"))
    }
}
