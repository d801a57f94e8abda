import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// The image that `packaging/image` makes, unpacked and run as an engine would do it: without root and capabilities, with a
/// root file system that cannot be written, and with two volumes.
@Suite(
    "Container image", .timeLimit(.minutes(5)),
    .enabled(if: SmallFileSystem.obstacle == nil && geteuid() == 0, "only root can mount volumes"))
struct ContainerImageTests {
    private struct Index: Decodable { let manifests: [Blob] }
    private struct Manifest: Decodable { let config: Blob, layers: [Blob] }
    private struct Blob: Decodable { let digest: String }
    private struct Configuration: Decodable {
        struct Settings: Decodable {
            let user: String
            let environment, entrypoint: [String]
            let volumes: [String: [String: String]]

            enum CodingKeys: String, CodingKey {
                case user = "User"
                case environment = "Env"
                case entrypoint = "Entrypoint"
                case volumes = "Volumes"
            }
        }
        let config: Settings
    }

    /// An unpacked image, and the folders that are its volumes.
    private struct Container {
        let root, volumes: String
        let settings: Configuration.Settings

        init(in scope: TestScope) async throws {
            let home = try TemporaryDirectory(in: scope)
            let archive = home.file("image.tar")
            let programs = URL(filePath: try BuiltProducts.program("cached"))
                .deletingLastPathComponent().path(percentEncoded: false)
            try await runSuccessfully(
                Libcached.root + "packaging/image", [programs, archive, "--quick"])
            let folder = try home.directory("archive")
            try await runSuccessfully("tar", ["-xf", archive, "-C", folder])
            func blob(_ blob: Blob) -> String {
                "\(folder)/blobs/sha256/\(blob.digest.dropFirst(7))"
            }
            func read<Document: Decodable>(_ file: String) throws -> Document {
                try JSONDecoder().decode(
                    Document.self, from: Data(contentsOf: URL(filePath: file)))
            }
            let index: Index = try read(folder + "/index.json")
            let manifest: Manifest = try read(blob(try #require(index.manifests.first)))
            let configuration: Configuration = try read(blob(manifest.config))
            settings = configuration.config
            (root, volumes) = (try home.directory("root"), try home.directory("volumes"))
            for layer in manifest.layers {
                try await runSuccessfully("tar", ["-xzf", blob(layer), "-C", root])
            }
            // The user of the container passes through it.
            #expect(chmod(home.path, 0o755) == 0)
            for volume in settings.volumes.keys {
                let path = volumes + volume
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: true)
                try await runSuccessfully("chown", [settings.user, path])
            }
        }

        /// Runs a program of the image as its user. mount(8), chroot(1)
        func process(
            _ words: [String], _ environment: [String: String] = [:], in scope: TestScope
        ) throws -> ChildProcess {
            let script =
                """
                mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && mount -t proc proc "$0/proc" || exit 1
                for volume in \(settings.volumes.keys.joined(separator: " ")); do
                    mount --bind "\(volumes)$volume" "$0$volume" || exit 1
                done
                exec setpriv --no-new-privs /usr/sbin/chroot --userspec=\(settings.user) "$0" "$@"
                """
            let fixed = settings.environment.map { setting in
                let parts = setting.split(separator: "=", maxSplits: 1)
                return (String(parts[0]), String(parts[1]))
            }
            return try ChildProcess(
                "unshare", ["--mount", "sh", "-c", script, root] + words,
                environment: Dictionary(fixed) { $1 }.merging(environment) { $1 }, in: scope)
        }
    }

    @Test func theDaemonRunsWithoutRightsAndEndsInTime() async throws {
        try await withTestScope { scope in
            let container = try await Container(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(byteCount: 22_000)
            origin.route("/a.png", .answer(headers: ["Cache-Control": "max-age=99"], body: image))
            let gate = try Gate()
            defer { gate.open() }
            origin.route("/b.png", .gated(image, after: 9000, gate))
            let daemon = try container.process(
                container.settings.entrypoint,
                ["CACHED_SOCKET_MODE": "666", "CACHED_ALLOW_NETWORK": "127.0.0.0/8"], in: scope)
            let socket = container.volumes + "/run/cached/cached.sock"
            try await daemon.waitForSocket(socket)
            let status = String(
                decoding: try contents(of: "/proc/\(daemon.pid)/status"), as: UTF8.self)
            #expect(status.contains("Uid:\t65532\t65532\t65532\t65532"))
            for set in ["CapPrm", "CapEff"] {
                #expect(status.contains("\(set):\t0000000000000000"))
            }
            // Probes run it in the container.
            let probe = try container.process(["/usr/bin/cachectl", "ping"], in: scope)
            #expect(try await probe.waitForExit() == .success)
            let client = try VarlinkConnection(socket, in: scope)
            let item = try await client.ask(call("Fetch", [origin.url("/a.png")])).items.first
            let path = try #require(item?.path)
            #expect(try contents(of: container.volumes + path) == image)
            // SIGTERM ends it soon, although a download hangs.
            let waiting = try VarlinkConnection(socket, in: scope)
            async let cut = try? waiting.ask(call("Fetch", [origin.url("/b.png")]))
            try await origin.waitForRequest("/b.png")
            let watch = Stopwatch()
            daemon.signal(SIGTERM)
            #expect(try await daemon.waitForExit() == .success)
            #expect(watch.time < .seconds(5))
            _ = await cut
        }
    }
}
