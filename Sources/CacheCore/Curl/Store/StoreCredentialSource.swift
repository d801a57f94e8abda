import Glibc
internal import SystemPackage

/// Where the credentials for a store come from.
public struct StoreCredentialSource: Hashable, Sendable {
    private enum Place: Hashable, Sendable {
        /// Requests are not signed.
        case nothing
        case fixed(StoreCredentials)
        /// A file in the format of AWS, and the profile in it.
        case file(String, profile: String)
    }

    /// Why there are no credentials.
    public struct Missing: Error, Hashable, Sendable {
        /// The places that were searched, and the fault of each.
        public let places: [String]
    }

    private let place: Place

    /// For public buckets.
    public static let none = StoreCredentialSource(place: .nothing)

    private init(place: Place) { self.place = place }

    /// Finds the credentials where other programs find them too.
    ///
    /// The addresses at which clouds offer credentials to their machines are not asked: they are addresses that this
    /// program exists to refuse, and they hang where there is no cloud.
    public init(environment: [String: String]) throws(Missing) {
        var places: [String] = []
        func value(_ name: String) -> String? {
            environment[name].flatMap { $0.isEmpty ? nil : $0 }
        }
        if let keyID = value("AWS_ACCESS_KEY_ID"), let secret = value("AWS_SECRET_ACCESS_KEY") {
            let token = value("AWS_SESSION_TOKEN")
            if let found = StoreCredentials(keyID: keyID, secret: secret, token: token) {
                place = .fixed(found)
                return
            }
            places.append("AWS_ACCESS_KEY_ID (the values have characters that no key has)")
        } else {
            places.append("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (not set)")
        }
        let profile = value("AWS_PROFILE") ?? "default"
        let files = [
            value("CREDENTIALS_DIRECTORY").map { "\($0)/aws" },
            value("AWS_SHARED_CREDENTIALS_FILE") ?? value("HOME").map { "\($0)/.aws/credentials" },
        ]
        for file in files.compactMap(\.self) {
            do throws(CredentialsFile.Problem) {
                _ = try CredentialsFile.read(file, profile: profile)
                place = .file(file, profile: profile)
                return
            } catch {
                places.append("\(file) (\(error))")
            }
        }
        throw Missing(places: places)
    }

    /// The credentials now. `nil` for a public bucket.
    func read() throws(CredentialsFile.Problem) -> StoreCredentials? {
        switch place {
        case .nothing: nil
        case .fixed(let credentials): credentials
        case .file(let path, let profile): try CredentialsFile.read(path, profile: profile)
        }
    }

    /// The file, if the credentials come from one.
    public var path: String? { if case .file(let path, _) = place { path } else { nil } }

    /// Whether requests are signed.
    public var isSigning: Bool { place != .nothing }

    /// Whether others than the owner may read the file. stat(2).
    public var isOpenToOthers: Bool {
        var status = stat()
        guard let path, stat(path, &status) == 0 else { return false }
        return status.st_mode & 0o077 != 0 && !path.hasPrefix("/run/credentials/")
    }
}
