import CacheKey
import CacheWire
import Foundation
import ImageFormats
import ImageSamples
import TestSupport

/// An origin with images, and the daemons that share a store.
struct StoreFixture {
    struct Image {
        let url: String
        let bytes: [UInt8]
    }

    let store: ObjectStore
    let origin: ScriptedOrigin
    /// The prefix of the objects of this test.
    let prefix: String
    let scope: TestScope

    static let lasting: HeaderFields = ["Cache-Control": "max-age=5000", "ETag": "\"x1\""]

    init(_ store: ObjectStore, in scope: TestScope, test: String = #function) throws {
        (self.store, self.scope) = (store, scope)
        origin = try ScriptedOrigin(in: scope)
        prefix = test.prefix { $0.isLetter }.lowercased()
    }

    /// The environment of a daemon that uses the store.
    var environment: [String: String] { store.environment(prefix: prefix) }

    /// Starts a daemon with an empty cache.
    func daemon(_ more: [String: String?] = [:]) async throws -> DaemonFixture {
        var environment = environment
        for (name, value) in more { environment[name] = value }
        return try await DaemonFixture.start(environment: environment, in: scope)
    }

    /// The path of the object of an image.
    func objectPath(_ image: Image) throws -> String {
        let name = CacheKey(try CacheURL(image.url)).description
        return "/\(ObjectStore.bucket)/\(prefix)/v1/\(name.prefix(2))/\(name)"
    }

    // MARK: Images

    /// Small PNG images, of 0.6 to 44 kB.
    func images(_ numbers: Range<Int>, headers: HeaderFields = lasting) -> [Image] {
        numbers.map { number in
            let size = 600 + number % 200 * 217
            return image(
                "\(number).png",
                SampleImage.png(
                    width: 8 + number / 200, byteCount: size, seed: number % 200),
                headers)
        }
    }

    /// One image of each format.
    func formats() -> [Image] {
        var types: Set<String> = ["image/svg+xml"]
        let samples = ImageSample.whole.filter { sample in
            sample.report.mediaType.map { types.insert($0.name).inserted } ?? false
        }
        return samples.map { sample in
            let type = sample.report.mediaType?.name ?? ""
            let fields: HeaderFields = ["Content-Type": type]
            return image(
                "\(type.replacing("/", with: "-")).image", Array(sample.bytes),
                fields.withDefaults(Self.lasting))
        }
    }

    func image(_ name: String, _ bytes: [UInt8], _ headers: HeaderFields = lasting) -> Image {
        origin.route("/" + name, .answer(headers: headers, body: bytes))
        return Image(url: origin.url("/" + name), bytes: bytes)
    }
}

extension DaemonFixture {
    /// Fetches images. Returns whether all are cached.
    func takes(_ images: some Sequence<StoreFixture.Image>) async throws -> Bool {
        let urls = images.map(\.url)
        return try await ask(call("Fetch", urls)).items.allSatisfy { $0.state == .cached }
    }

    /// Waits until every image that was to be written to the store is there.
    func writesToStore() async throws {
        let connection = try connect()
        try await waitUntil("all images to be in the store") {
            try await connection.ask(call("Stats")).parameters?.stats?["storeQueued"] == 0
        }
    }
}
