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
        case service(CredentialService)
    }

    /// Why there are no credentials.
    public struct Missing: Error, Hashable, Sendable {
        /// The places that were searched, and the fault of each.
        public let places: [String]
        /// Whether a service is being asked for the first time.
        var isPending = false

        init(places: [String], isPending: Bool = false) {
            (self.places, self.isPending) = (places, isPending)
        }
    }

    private let place: Place
    /// Why the environment has none itself.
    private let problem: String

    /// For public buckets.
    public static let none = StoreCredentialSource(place: .nothing, problem: "")
    /// The metadata service of a virtual machine at AWS.
    public static let instance = StoreCredentialSource(
        .instance(endpoint: "http://169.254.169.254"))

    init(_ service: CredentialService) { self.init(place: .service(service), problem: "") }

    private init(place: Place, problem: String) { (self.place, self.problem) = (place, problem) }

    /// The places in which other programs find them too. Files need not exist yet.
    ///
    /// The metadata service of virtual machines is asked only if the settings say so: its address is one that this program
    /// exists to refuse, and it hangs where there is no cloud.
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
        if let service = CredentialService(value) {
            self.init(service)
            return
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
        case .service(let service):
            throw Missing(places: ["\(service.name) (not asked yet)"], isPending: true)
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

    /// The files that are looked for.
    public var files: [String] {
        switch place {
        case .files(let files, _): files
        case .service(let service): service.files
        case .nothing, .fixed: []
        }
    }

    /// The service that gives them, if one does.
    var service: CredentialService? {
        if case .service(let service) = place { service } else { nil }
    }

    /// Whether requests are signed.
    public var isSigning: Bool { place != .nothing }

    /// The files that others than the owner may read. stat(2).
    public var openToOthers: [String] {
        guard case .files(let files, _) = place else { return [] }
        return files.filter { file in
            var status = stat()
            guard stat(file, &status) == 0 else { return false }
            return status.st_mode & 0o077 != 0 && !file.hasPrefix("/run/credentials/")
        }
    }
}

extension CredentialService {
    /// The service that a platform has named in the environment.
    init?(_ value: (String) -> String?) {
        if let file = value("AWS_WEB_IDENTITY_TOKEN_FILE"), let role = value("AWS_ROLE_ARN") {
            let region = value("AWS_REGION") ?? value("AWS_DEFAULT_REGION") ?? "us-east-1"
            let endpoint = value("AWS_ENDPOINT_URL_STS") ?? "https://sts.\(region).amazonaws.com"
            self = .webIdentity(
                endpoint: endpoint, tokenFile: file, role: role,
                session: value("AWS_ROLE_SESSION_NAME") ?? "cached")
        } else if let url = value("AWS_CONTAINER_CREDENTIALS_FULL_URI")
            ?? value("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").map({ "http://169.254.170.2\($0)" })
        {
            self = .container(
                url: url, tokenFile: value("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"),
                token: value("AWS_CONTAINER_AUTHORIZATION_TOKEN"))
        } else {
            return nil
        }
    }
}
