import Glibc
internal import SystemPackage

/// Where the credentials for a store come from.
public struct StoreCredentialSource: Hashable, Sendable {
    private enum Place: Hashable, Sendable {
        /// Requests are not signed.
        case nothing
        case fixed(StoreCredentials)
        /// Files in the format of AWS, in the order in which they count, and the profile in them.
        case files([String], profile: String)
    }

    /// Why there are no credentials.
    public struct Missing: Error, Hashable, Sendable {
        /// The places that were searched, and the fault of each.
        public let places: [String]
    }

    private let place: Place
    /// Why the environment has none itself.
    private let problem: String

    /// For public buckets.
    public static let none = StoreCredentialSource(place: .nothing, problem: "")

    private init(place: Place, problem: String) { (self.place, self.problem) = (place, problem) }

    /// The places in which other programs find them too. Files need not exist yet.
    ///
    /// The addresses at which clouds offer credentials to their machines are not asked: they are addresses that this
    /// program exists to refuse, and they hang where there is no cloud.
    public init(environment: [String: String]) {
        func value(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        var problem = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (not set)"
        if let keyID = value("AWS_ACCESS_KEY_ID"), let secret = value("AWS_SECRET_ACCESS_KEY") {
            let token = value("AWS_SESSION_TOKEN")
            if let found = StoreCredentials(keyID: keyID, secret: secret, token: token) {
                self.init(place: .fixed(found), problem: "")
                return
            }
            problem = "AWS_ACCESS_KEY_ID (the values have characters that no key has)"
        }
        let files = [
            value("CREDENTIALS_DIRECTORY").map { "\($0)/aws" },
            value("AWS_SHARED_CREDENTIALS_FILE") ?? value("HOME").map { "\($0)/.aws/credentials" },
        ]
        self.init(
            place: .files(files.compactMap(\.self), profile: value("AWS_PROFILE") ?? "default"),
            problem: problem)
    }

    /// The credentials now. `nil` for a public bucket.
    func read() throws(Missing) -> StoreCredentials? {
        switch place {
        case .nothing: return nil
        case .fixed(let credentials): return credentials
        case .files(let files, let profile):
            var places = [problem]
            for file in files {
                do throws(CredentialsFile.Problem) {
                    return try CredentialsFile.read(file, profile: profile)
                } catch {
                    places.append("\(file) (\(error))")
                }
            }
            throw Missing(places: places)
        }
    }

    /// The files that are looked for, if the credentials come from one.
    public var files: [String] { if case .files(let files, _) = place { files } else { [] } }

    /// Whether requests are signed.
    public var isSigning: Bool { place != .nothing }

    /// The files that others than the owner may read. stat(2).
    public var openToOthers: [String] {
        files.filter { file in
            var status = stat()
            guard stat(file, &status) == 0 else { return false }
            return status.st_mode & 0o077 != 0 && !file.hasPrefix("/run/credentials/")
        }
    }
}
