import Glibc
import TestSupport
import Testing

@testable import CacheCore

/// Credentials are found in each of their places, and read again when they change.
@Suite("Store: credentials", .timeLimit(.minutes(1)))
struct StoreCredentialsTests {
    private func text(_ keyID: String, profile: String = "default") -> String {
        "[\(profile)]\naws_access_key_id = \(keyID)\naws_secret_access_key=s+/=\n"
    }

    @Test func aFileHasProfiles() throws {
        let file =
            "# comment\n" + text("one") + "\n[ profile two ]\nx=y\n"
            + text("three", profile: "three")
            + "aws_session_token = t\nregion = x\n"
        let first = try CredentialsFile.parse(file, profile: "default")
        #expect(first.keyID == "one" && first.secret == "s+/=" && first.token == nil)
        let third = try CredentialsFile.parse(file, profile: "three")
        #expect(third.keyID == "three" && third.token == "t")
        #expect(throws: CredentialsFile.Problem.noProfile("four")) {
            try CredentialsFile.parse(file, profile: "four")
        }
        #expect(throws: CredentialsFile.Problem.incomplete("profile two")) {
            try CredentialsFile.parse(file, profile: "profile two")
        }
    }

    @Test func theEnvironmentComesFirstThenTheServiceManagerThenTheUsersFile() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            try home.write(text("manager"), to: "aws")
            try home.write(text("user"), to: "credentials")
            var environment = [
                "AWS_ACCESS_KEY_ID": "environment", "AWS_SECRET_ACCESS_KEY": "s",
                "CREDENTIALS_DIRECTORY": home.path,
                "AWS_SHARED_CREDENTIALS_FILE": home.file("credentials"),
            ]
            func keyID() throws -> String? {
                try StoreCredentialSource(environment: environment).read()?.keyID
            }
            #expect(try keyID() == "environment")
            environment["AWS_SECRET_ACCESS_KEY"] = nil
            #expect(try keyID() == "manager")
            environment["CREDENTIALS_DIRECTORY"] = nil
            #expect(try keyID() == "user")
            environment["AWS_PROFILE"] = "nobody"
            #expect { try keyID() } throws: { error in
                let places = (error as? StoreCredentialSource.Missing)?.places ?? []
                return places.count == 2 && places[1].contains("no profile \"nobody\"")
            }
        }
    }

    @Test func aChangedFileIsReadAgainAndAnIncompleteOneIsNot() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = home.file("credentials")
            let location = try StoreLocation(
                "s3://images", endpoint: "http://127.0.0.1:1", region: "r", style: nil)
            let source = StoreCredentialSource(environment: ["AWS_SHARED_CREDENTIALS_FILE": file])
            let access = StoreAccess(StoreSettings(location: location, credentials: source))
            #expect(throws: StoreCredentialSource.Missing.self) { try access.credentials() }
            #expect(!access.hasOtherCredentials())
            try home.write(text("old"), to: "credentials")
            #expect(access.hasOtherCredentials())
            #expect(try access.credentials()?.keyID == "old")
            for part in ["", "[default]\naws_access_key_id = ne"] {
                try home.write(part, to: "credentials")
                #expect(!access.hasOtherCredentials())
                #expect(try access.credentials()?.keyID == "old")
            }
            try home.write(text("another"), to: "credentials")
            #expect(try access.credentials()?.keyID == "another")
            #expect(!access.hasOtherCredentials())
        }
    }

    @Test func othersMayNotReadTheFile() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write(text("k"), to: "credentials")
            let source = StoreCredentialSource(environment: ["AWS_SHARED_CREDENTIALS_FILE": file])
            #expect(chmod(file, 0o644) == 0)
            #expect(source.openToOthers == [file])
            #expect(chmod(file, 0o600) == 0)
            #expect(source.openToOthers.isEmpty)
        }
    }
}
