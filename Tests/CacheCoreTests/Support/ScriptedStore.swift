import CacheKey
import CacheSamples
import CacheValues
import HTTPCaching
import ImageFormats
import TestSupport

@testable import CacheCore
@testable import CacheDisk
@testable import CacheModel

/// A store that answers by a script, for behaviour that real stores do not show.
struct ScriptedStore {
    let server: ScriptedOrigin
    var settings: StoreSettings

    init(
        in scope: TestScope, mode: (reads: Bool, writes: Bool) = (true, false),
        timeout: Duration = .seconds(1)
    ) throws {
        server = try ScriptedOrigin(in: scope)
        server.otherwise { request in
            request.method == "PUT" ? .answer(200) : .storeError(404, "NoSuchKey")
        }
        let location = try StoreLocation(
            "s3://images", endpoint: server.url(""), region: "us-east-1", style: nil)
        var settings = StoreSettings(location: location, credentials: .none)
        (settings.policy.reads, settings.policy.writes) = mode
        settings.policy.timeout = timeout
        self.settings = settings
    }

    func path(_ request: ImageRequest) -> String {
        "/images/\(settings.location.objectName(of: request.key))"
    }

    /// The header fields of an object with these bytes, as a daemon writes them.
    func fields(
        _ request: ImageRequest, _ bytes: [UInt8], lifetime: Int64 = 3600, age: Int64 = 0,
        signedBy key: SigningKey? = nil, change: (inout EntryRecord) -> Void = { _ in }
    ) -> HeaderFields {
        var record = EntryRecord(
            size: Int64(bytes.count), mediaType: .png, width: 8, height: 8,
            fetchedAt: Sample.now, freshUntil: Sample.now + lifetime,
            validators: Validators(entityTag: "\"1\""), isPinned: false)
        change(&record)
        var metadata = StoreMetadata(
            record: StoreRecord(record, put: Sample.now).text,
            digest: ContentDigest(of: bytes).description,
            urlDigest: StoreMetadata.urlDigest(of: request.name))
        if let key { metadata.sign(with: key) }
        var fields: [(name: String, value: String)] = metadata.fields.map { field in
            (name: field.name, value: field.value)
        }
        fields.append((name: "Date", value: Sample.date(age)))
        fields.append((name: "Last-Modified", value: Sample.date(0)))
        return HeaderFields(fields)
    }

    /// Puts an object there.
    func has(
        _ request: ImageRequest, _ bytes: [UInt8], lifetime: Int64 = 3600, age: Int64 = 0,
        change: (inout EntryRecord) -> Void = { _ in }
    ) {
        let fields = fields(request, bytes, lifetime: lifetime, age: age, change: change)
        server.route(path(request), .answer(headers: fields, body: bytes))
    }

    /// Answers a question with an error document.
    func fails(_ request: ImageRequest, _ status: Int, _ code: String, _ fields: HeaderFields = [:])
    {
        server.route(path(request), .storeError(status, code, fields))
    }
}

extension CacheFixture {
    /// The counters of the store so far.
    var storeCounters: StoreCounters { cache.read { $0.store?.counters ?? StoreCounters() } }

    var storeState: String { cache.statistics().store?.state ?? "none" }
}
