import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// The gallery of a user who may not enter the directory of the daemon.
@Suite(
    .timeLimit(.minutes(2)), .enabled(if: geteuid() == 0, "only root can become another user"))
struct GalleryUserTests {
    /// A daemon of root that others may ask, with its directory closed to them.
    private struct Place {
        let daemon: DaemonFixture
        let url: String
        let image: [UInt8]
        /// A folder that the other user can read.
        let home: TemporaryDirectory
        /// A copy of `cached-gallery`, because the other user may not be able to reach the built program.
        let program: String
    }

    private func place(in scope: TestScope) async throws -> Place {
        let home = try TemporaryDirectory(in: scope)
        chmod(home.path, 0o755)
        let program = home.file("cached-gallery")
        try await runSuccessfully("cp", [try BuiltProducts.program("cached-gallery"), program])
        let origin = try ScriptedOrigin(in: scope)
        let image = SampleImage.png(byteCount: 9000)
        origin.route("/a.png", .answer(headers: ["Cache-Control": "max-age=900"], body: image))
        var options = DaemonFixture.Options()
        options.arguments = ["--socket-mode", "666"]
        options.directory = home.file("cache")
        options.socket = home.file("s")
        let daemon = try await DaemonFixture.start(options, in: scope)
        #expect(try await daemon.fetch(origin.url("/a.png")).state == .cached)
        chmod(home.file("cache"), 0o700)
        return Place(
            daemon: daemon, url: origin.url("/a.png"), image: image, home: home, program: program)
    }

    @Test func theDaemonHandsTheirFilesOver() async throws {
        try await withTestScope { scope in
            let place = try await place(in: scope)
            let gallery = try await GalleryProgram(
                place.daemon, launcher: TestUser.other.launcher, program: place.program, in: scope)
            let web = WebClient(port: gallery.port)
            let item = try await place.daemon.status(place.url, details: true)
            let path = "\(gallery.path)image/\(item.key)"
            let whole = try await web.request("GET", path)
            #expect(whole.status == 200 && whole.body == place.image)
            #expect(whole.fields["content-type"] == "image/png")
            let tag = try #require(whole.fields["etag"])
            #expect(tag == "\"\(item.sha256 ?? "")\"")
            let known = try await web.request("GET", path, ["If-None-Match": tag])
            #expect(known.status == 304)
            let part = try await web.request("GET", path, ["Range": "bytes=100-199"])
            #expect(part.status == 206 && part.body == Array(place.image[100..<200]))

            let own = ["Origin": "http://\(web.host)", "Content-Type": "application/json"]
            let body = #"{"key":"\#(item.key)"}"#
            let verified = try await web.request(
                "POST", "\(gallery.path)verify", own, body: body)
            #expect(verified.text.contains(#""isDamaged":false"#))
            let shown = try await web.request("POST", "\(gallery.path)open", own, body: body)
            #expect(shown.text.contains("no access to the cache directory"))

            _ = try await place.daemon.ask(call("Remove", [place.url]))
            #expect(try await web.request("GET", path).status == 404)
        }
    }

    @Test func signedAddressesAreServedToo() async throws {
        try await withTestScope { scope in
            let place = try await place(in: scope)
            let secret = try place.home.write(String(repeating: "0123", count: 16), to: "secret")
            chmod(secret, 0o600)
            chown(secret, TestUser.other.id, TestUser.other.id)
            let words =
                TestUser.other.launcher + [
                    place.program, "--serve", "--secret-file", secret, "--socket",
                    place.daemon.socket,
                ]
            let face = try ChildProcess(
                words[0], Array(words.dropFirst()), environment: minimalEnvironment(), in: scope)
            let line = try await face.waitForLine(containing: "http://", on: .standardOutput)
            let port = try #require(line.firstMatch(of: /127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) })
            let path = try await runSuccessfully(
                place.program, ["--sign", place.url, "--secret-file", secret])
            let response = try await WebClient(port: port).request(
                "GET", path.trimmingCharacters(in: .whitespacesAndNewlines))
            #expect(response.status == 200 && response.body == place.image)
            #expect(response.fields["cache-control"]?.hasPrefix("max-age=") == true)
        }
    }
}
