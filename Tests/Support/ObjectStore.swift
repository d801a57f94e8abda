import Foundation

/// A real object store on loopback: SeaweedFS, or Ceph RGW if `CACHED_TEST_ENGINE` says `ceph-rgw`.
///
///     let store = try await ObjectStore(in: scope)
///     let daemon = try await DaemonFixture.start(environment: store.environment(), in: scope)
public struct ObjectStore: Sendable {
    /// The script that runs the engine. All processes end with it.
    public let process: ChildProcess
    public let endpoint: String
    private let directory: String

    public static let bucket = "images"
    private static let engine = setting("CACHED_TEST_ENGINE") ?? "seaweedfs"

    /// The program of the engine: that of `.ci/python-clients`, or one that is installed.
    private static let program: String? = {
        guard engine == "seaweedfs" else { return found("radosgw") }
        let python = setting("CACHED_TEST_PYTHON").map { URL(filePath: $0) }
        let own = python?.deletingLastPathComponent().appending(path: "weed")
            .path(percentEncoded: false)
        if let own, FileManager.default.isExecutableFile(atPath: own) { return own }
        return found("weed")
    }()

    /// Whether the engine is one process that takes the space of the disk as it needs it.
    public static var isOneProcess: Bool { engine == "seaweedfs" }

    /// Whether tests with a real store can run.
    public static var isInstalled: Bool { program != nil }

    /// - Parameters:
    ///   - nodes: servers that hold the objects, each object on two of them. 0 for one process.
    ///   - disk: bytes of a disk of the engine's own. `nil` for that of the test. Only root can make one.
    public init(nodes: Int = 0, disk: Int? = nil, in scope: TestScope) async throws {
        guard let program = Self.program else { throw TestFailure("no object store is installed") }
        let home = try TemporaryDirectory(in: scope)
        directory = try home.directory("engine")
        if let disk {
            let small = try await SmallFileSystem(bytes: disk, over: directory)
            scope.atEnd(small.remove)
        }
        let script = URL(filePath: #filePath).appending(path: "../../Engines/\(Self.engine)")
            .standardizedFileURL.path(percentEncoded: false)
        process = try ChildProcess(
            script, [directory],
            environment: minimalEnvironment([
                "BASE_PORT": "\(Self.freePorts())", "NODES": "\(nodes)", "WEED": program,
            ]), in: scope)
        let line = try await process.waitForLine(
            containing: "ready ", on: .standardOutput, within: .seconds(150))
        endpoint = String(line.drop { $0 != " " }.dropFirst())
    }

    /// The environment of a daemon that uses the store.
    ///
    /// - Parameter prefix: separates the objects of several tests.
    public func environment(
        prefix: String = "test", keyID: String = "cachedtest",
        secret: String = "cached/test+secret=0"
    ) -> [String: String] {
        [
            "CACHED_STORE": "s3://\(Self.bucket)/\(prefix)", "CACHED_STORE_ENDPOINT": endpoint,
            "AWS_ACCESS_KEY_ID": keyID, "AWS_SECRET_ACCESS_KEY": secret,
            // The origins of tests are on the loopback.
            "CACHED_STORE_PRIVATE": "yes",
        ]
    }

    /// Processes of the engine.
    public enum Part: Sendable {
        case oneNode, nodes, gateway, everything

        /// How the names of their processes begin, as the engine's script has them.
        fileprivate var name: String {
            let isCeph = ObjectStore.engine == "ceph-rgw"
            return switch self {
            case .oneNode: isCeph ? "osd1" : "volume1"
            case .nodes: isCeph ? "osd" : "volume"
            case .gateway: isCeph ? "rgw" : "gateway"
            case .everything: ""
            }
        }
    }

    /// Sends a signal to processes of the engine.
    public func signal(_ number: Int32, to part: Part) throws {
        let folder = directory + "/run"
        for file in try FileManager.default.contentsOfDirectory(atPath: folder)
        where file.hasPrefix(part.name) && file.hasSuffix(".pid") {
            let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
            guard let pid = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
                throw TestFailure("\(file) names no process")
            }
            kill(pid, number)
        }
    }

    /// The first free one of 200 ports. They are below the range of the kernel, so no other program gets one by
    /// chance.
    private static func freePorts() -> Int { 10_000 + 200 * Int.random(in: 0..<100) }

    private static func setting(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func found(_ program: String) -> String? {
        ["/usr/local/bin", "/usr/bin", "/bin"].map { "\($0)/\(program)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
