import CacheCore
import CacheFetching
import CacheValues
import Logging

/// The settings about a store that several machines share, before they are put together.
struct StoreChoice: Sendable {
    var bucket: String?
    var endpoint: String?
    var region: String?
    var style: StoreLocation.Style?
    var credentials: StoreCredentialSource?
    var policy = StorePolicy()
    var maximumRate: Int64?
    var signing: SigningKey?
    var trusted: [VerifyingKey]?

    /// `nil` without a bucket, even if other settings of the store are set. A wrong value of one is an error all the same.
    ///
    /// - Parameter downloadRate: bytes a second of all downloads, if that is limited.
    func settings(
        _ values: SettingValues, _ environment: [String: String], downloadRate: Int64?
    ) throws -> StoreSettings? {
        guard let bucket else {
            _ = try location("s3://images", values, [:])
            return nil
        }
        var settings = StoreSettings(
            location: try location(bucket, values, environment),
            credentials: credentials ?? StoreCredentialSource(environment: environment))
        settings.policy = policy
        settings.maximumRate = maximumRate ?? downloadRate.map { max(1, $0 / 4) }
        settings.signing = signing
        // What this machine has put there itself counts.
        settings.trusted = trusted.map { $0 + [signing?.verifying].compactMap(\.self) }
        return settings
    }

    private func location(
        _ bucket: String, _ values: SettingValues, _ environment: [String: String]
    ) throws -> StoreLocation {
        func variable(_ names: String...) -> (name: String, value: String)? {
            names.lazy.compactMap { name in
                environment[name].flatMap { $0.isEmpty ? nil : (name, $0) }
            }.first
        }
        let region =
            region ?? variable("AWS_REGION", "AWS_DEFAULT_REGION")?.value ?? "us-east-1"
        guard region.wholeMatch(of: /[a-zA-Z0-9-]{1,64}/) != nil else {
            throw values.bad(
                "CACHED_STORE_REGION", WrongValue("a region like eu-central-1", shown: region))
        }
        let inherited = variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
        do throws(StoreLocation.Problem) {
            return try StoreLocation(
                bucket, endpoint: endpoint ?? inherited?.value, region: region, style: style)
        } catch {
            guard error.isAboutEndpoint else {
                throw values.bad("CACHED_STORE", WrongValue(error.expected))
            }
            guard endpoint == nil, let inherited else {
                throw values.bad(
                    "CACHED_STORE_ENDPOINT",
                    WrongValue(error.expected, shown: endpoint?.withoutPassword))
            }
            throw StartFailure.configuration(
                "\(inherited.name) in the environment is \"\(inherited.value.withoutPassword)\", not "
                    + error.expected)
        }
    }
}

extension Settings {
    /// Tells which store is used, and warns of one that others can see into.
    func reportStore(_ logger: Logger) {
        guard let store = cache.store else { return }
        logger.info(
            "images are shared with other machines",
            metadata: [
                "store": "\(store.location.description)", "endpoint": "\(store.location.endpoint)",
            ])
        if store.location.isOpenToListeners {
            logger.warning(
                "the store is reached without TLS; whoever listens on the way sees the images",
                metadata: ["endpoint": "\(store.location.endpoint)"])
        }
        for file in store.credentials.openToOthers {
            logger.warning(
                "others may read the credentials of the store; chmod 600 the file",
                metadata: ["file": "\(file)"])
        }
    }
}
