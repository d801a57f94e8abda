import CacheWire
import Foundation
import TestSupport
import Testing

/// The start and the end of the gallery, and the requests of the page.
@Suite(.timeLimit(.minutes(2)))
struct GallerySessionTests {
    /// A browser that writes its arguments and the file's mode down, and fetches the address in the file.
    private func browser(in directory: TemporaryDirectory) throws -> String {
        let script = try directory.write(
            """
            #!/bin/sh
            echo "$@" > \(directory.path)/arguments
            file=${1#file://}
            stat -c %a "$file" > \(directory.path)/mode
            sed -n 's/.*url=\\([^"]*\\)".*/\\1/p' "$file" | head -n 1 > \(directory.path)/address.new
            mv \(directory.path)/address.new \(directory.path)/address

            """, to: "browser")
        chmod(script, 0o755)
        return script
    }

    @Test func theBrowserIsLedByAFileOfTheUserAlone() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let directory = try TemporaryDirectory(in: scope)
            let program = try ChildProcess(
                BuiltProducts.program("cachectl"), ["gallery", "--socket", daemon.socket],
                environment: minimalEnvironment([
                    "HOME": directory.path, "XDG_RUNTIME_DIR": directory.path,
                    "BROWSER": try browser(in: directory),
                ]), in: scope)
            let address = try await eventually("the address") {
                try? String(contentsOfFile: directory.file("address"), encoding: .utf8)
            }.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(
                try String(contentsOfFile: directory.file("mode"), encoding: .utf8) == "600\n")
            let port = try #require(URL(string: address)?.port)
            let path = String(address.dropFirst("http://127.0.0.1:\(port)".count))
            #expect(try await WebClient(port: port).request("GET", path).status == 200)
            // The secret is in no command line and no environment.
            let arguments = try String(contentsOfFile: directory.file("arguments"), encoding: .utf8)
            let secret = path.replacing("/", with: "")
            #expect(secret.count == 32 && !arguments.contains(secret))
            for name in ["cmdline", "environ"] {
                let bytes = try Data(contentsOf: URL(filePath: "/proc/\(program.pid)/\(name)"))
                #expect(!String(decoding: bytes, as: UTF8.self).contains(secret))
            }
            // It is cached-gallery, started by exec.
            let link = try FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/\(program.pid)/exe")
            #expect(link.hasSuffix("/cached-gallery"))
            program.signal(SIGINT)
            #expect(try await program.waitForExit() == .success)
            let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(!left.contains { $0.hasSuffix(".html") })
        }
    }

    @Test func anotherUserOfTheMachineGetsNothing() async throws {
        try await withTestScope { scope in
            guard geteuid() == 0 else { return }
            let daemon = try await DaemonFixture.start(in: scope)
            let directory = try TemporaryDirectory(in: scope)
            chmod(directory.path, 0o755)
            let program = try ChildProcess(
                BuiltProducts.program("cached-gallery"), ["--socket", daemon.socket],
                environment: minimalEnvironment([
                    "XDG_RUNTIME_DIR": directory.path, "BROWSER": try browser(in: directory),
                ]), in: scope)
            let address = try await eventually("the address") {
                try? String(contentsOfFile: directory.file("address"), encoding: .utf8)
            }
            let file = try String(contentsOfFile: directory.file("arguments"), encoding: .utf8)
                .dropFirst("file://".count).trimmingCharacters(in: .whitespacesAndNewlines)
            let port = try #require(URL(string: address.trimmingCharacters(in: .newlines))?.port)
            // Everything that another user can read: the file, the process, and the server without the secret.
            let script = """
                import os, sys, urllib.request
                # That user may not read Python's own files.
                "a".encode("idna")
                os.setgid(65534); os.setuid(65534)
                for path in sys.argv[2:]:
                    try: print(open(path, "rb").read())
                    except PermissionError: pass
                try: print(urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/").read())
                except urllib.error.HTTPError as error: print(error.code)
                """
            let output = try await runSuccessfully(
                "python3",
                [
                    "-c", script, "\(port)", file, "/proc/\(program.pid)/cmdline",
                    "/proc/\(program.pid)/environ",
                ])
            #expect(output.contains("404"))
            let secret = address.split(separator: "/").last.map(String.init) ?? ""
            #expect(!output.contains(secret.trimmingCharacters(in: .newlines)))
        }
    }

    @Test func itEndsWhenThePageIsClosed() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let process = try ChildProcess(
                BuiltProducts.program("cached-gallery"),
                ["--no-browser", "--idle-exit", "1", "--socket", daemon.socket], in: scope)
            let line = try await process.waitForLine(containing: "http://", on: .standardOutput)
            let port = try #require(line.firstMatch(of: /127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) })
            let path = try #require(line.firstMatch(of: /:\d+(\/\S+)/)?.1)
            let page = try EventReader(port: port, path: "\(path)events?view=v", in: scope)
            #expect(try await page.next("state").contains(#""daemon":true"#))
            // Its daemon ends and comes back, which is no reason to end.
            try await daemon.stop()
            #expect(try await page.next("state").contains(#""daemon":false"#))
            let other = try await daemon.restart()
            _ = other
            page.close()
            #expect(try await process.waitForExit() == .success)
        }
    }

    @Test func aPageSeesTheDaemonThroughItsRestarts() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            var options = DaemonFixture.Options()
            options.socket = home.file("s")
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(options, in: scope)
            let program = try await GalleryProgram(daemon, in: scope)
            let web = WebClient(port: program.port)
            let page = try EventReader(
                port: program.port, path: "\(program.path)events?view=v", in: scope)
            _ = try await page.next("state")
            let own = ["Origin": "http://\(web.host)", "Content-Type": "application/json"]
            let visible = #"{"view":"v","urls":["\#(url)"]}"#
            let done = try await web.request("POST", "\(program.path)visible", own, body: visible)
            #expect(done.status == 200)
            #expect(try await page.next("items").contains(#""state":"missing""#))
            try await daemon.stop()
            #expect(try await page.next("state").contains(#""daemon":false"#))
            let away = try await web.request("GET", "\(program.path)list?view=v")
            #expect(away.status == 200 && away.text.contains(#""isAway":true"#))
            let again = try await daemon.restart()
            #expect(try await page.next("state").contains(#""daemon":true"#))
            // The images on the screen are watched again.
            _ = try await page.next("items")
            _ = try await again.fetch(url)
            var event = try await page.next("items")
            while !event.contains(#""state":"cached""#) { event = try await page.next("items") }
            _ = try await again.cachectl("pin", url)
            while !event.contains(#""pinned":true"#) { event = try await page.next("items") }
            _ = try await again.cachectl("remove", url)
            while !event.contains(#""removed":[""#) { event = try await page.next("items") }
            // The list changed when the image came. That is said once.
            try await page.once("stale")
        }
    }

    @Test func aPageThatReconnectsHearsWhatItHasMissed() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            for name in ["/a.png", "/b.png"] {
                origin.route(name, .answer(body: SampleImage.png()))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            _ = try await daemon.fetch(origin.url("/a.png"))
            let program = try await GalleryProgram(daemon, in: scope)
            let web = WebClient(port: program.port)
            let events = "\(program.path)events?view=v"
            let page = try EventReader(port: program.port, path: events, in: scope)
            _ = try await page.next("state")
            let list = try await web.request("GET", "\(program.path)list?view=v")
            #expect(list.text.contains(#""list":1"#))
            while try await !page.next("list").contains(#""isWhole":true"#) {}
            // The list is outdated, which a page hears once.
            _ = try await daemon.fetch(origin.url("/b.png"))
            _ = try await page.next("stale")
            page.close()
            let again = try EventReader(port: program.port, path: events, in: scope)
            let state = try await again.next("list")
            #expect(state == #"{"list":1,"total":1,"isWhole":true}"#)
            _ = try await again.next("stale")
        }
    }

    @Test func aListCanBeAskedForAnyPosition() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            var urls: [String] = []
            for number in 0..<30 {
                let path = "/\(number % 2 == 0 ? "even" : "odd")/\(number).png"
                origin.route(path, .answer(body: SampleImage.png(seed: number)))
                urls.append(origin.url(path))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            for url in urls { _ = try await daemon.fetch(url) }
            let program = try await GalleryProgram(daemon, in: scope)
            let web = WebClient(port: program.port)
            func list(_ query: String) async throws -> WebList {
                let response = try await web.request("GET", program.path + query)
                #expect(response.status == 200)
                return try JSONDecoder().decode(WebList.self, from: Data(response.body))
            }
            let first = try await list("list?view=v&order=largest&limit=5")
            #expect(first.items.count == 5 && first.list == 1)
            let rest = try await list("items?view=v&from=5&count=500")
            #expect(rest.items.count == 25 && rest.total == 30 && rest.isWhole && rest.from == 5)
            #expect(Set((first.items + rest.items).map(\.url)) == Set(urls))
            let last = try await list("items?view=v&from=29&count=1")
            #expect(last.items == rest.items.suffix(1))
            // Filters.
            let odd = try await list("list?view=v&contains=/ODD/")
            #expect(odd.items.count == 15 && odd.items.allSatisfy { $0.url.contains("/odd/") })
            let key = try #require(odd.items.first?.key)
            let byKey = try await list("list?view=v&contains=\(key.prefix(13))")
            #expect(byKey.items.map(\.key) == [key])
            #expect(try await list("list?view=v&type=image/gif").items.isEmpty)
            #expect(try await list("list?view=v&type=image/png").items.count == 30)
            #expect(try await list("list?view=v&host=127.0.0.1").items.count == 30)
            #expect(try await list("list?view=v&host=a.example").items.isEmpty)
            #expect(try await list("list?view=v&order=host").items.count == 30)
            let hosts = try await web.request("GET", "\(program.path)hosts").text
            #expect(hosts.contains(#""entries":30"#) && hosts.contains(#""type":"image/png""#))
        }
    }

    @Test func aThumbnailIsDerivedAndLookingAsksNoOrigin() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(width: 400, height: 200)
            origin.route("/a.png", .answer(headers: ["Cache-Control": "max-age=900"], body: image))
            origin.route("/old.png", .answer(headers: ["Cache-Control": "max-age=0"], body: image))
            let daemon = try await DaemonFixture.start(in: scope)
            for path in ["/a.png", "/old.png"] { _ = try await daemon.fetch(origin.url(path)) }
            let program = try await GalleryProgram(daemon, in: scope)
            let web = WebClient(port: program.port)
            func thumbnail(_ path: String, side: String = "128") async throws -> WebResponse {
                try await web.request(
                    "GET", "\(program.path)thumbnail?side=\(side)&url=\(origin.url(path))")
            }
            // Nothing is made for a request for what is ready.
            let ready =
                "\(program.path)thumbnail?ready=1&side=128&url=\(origin.url("/a.png"))"
            #expect(try await web.request("GET", ready).status == 204)
            let none = try await daemon.status(origin.url("/a.png") + "#side=128")
            #expect(none.state == .missing && none.phase == nil)
            let small = try await thumbnail("/a.png")
            #expect(small.status == 200 && small.body != image)
            #expect(try await web.request("GET", ready).body == small.body)
            let derived = try await daemon.status(origin.url("/a.png") + "#side=128")
            #expect(derived.state == .cached && derived.width == 128 && derived.height == 64)
            let tag = try #require(small.fields["etag"])
            let again = try await web.request(
                "GET", "\(program.path)thumbnail?side=128&url=\(origin.url("/a.png"))",
                ["If-None-Match": tag])
            #expect(again.status == 304)
            // A stale original, and a size that there is not: the original is shown.
            #expect(try await thumbnail("/old.png").body == image)
            #expect(try await thumbnail("/a.png", side: "99").body == image)
            #expect(try await thumbnail("/none.png").status == 404)
            #expect(try await thumbnail("/a.png", side: "x").status == 400)
            #expect(origin.requests().count == 2)
            // The list of the page has originals alone.
            let list = try await web.request("GET", "\(program.path)list?view=v").text
            #expect(list.contains("/old.png") && !list.contains("side="))
        }
    }

    @Test func aPageHearsOfADaemonThatHangs() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let program = try await GalleryProgram(daemon, in: scope)
            let page = try EventReader(
                port: program.port, path: "\(program.path)events?view=v", in: scope)
            _ = try await page.next("stats")
            daemon.process.signal(SIGSTOP)
            scope.atEnd { daemon.process.signal(SIGCONT) }
            let start = ContinuousClock.now
            var state = try await page.next("state")
            while !state.contains("message") { state = try await page.next("state") }
            #expect(state.contains("does not answer"))
            print("gallery: a hung daemon is reported after \(ContinuousClock.now - start)")
            daemon.process.signal(SIGCONT)
            while state.contains("message") { state = try await page.next("state") }
            #expect(state == #"{"daemon":true}"#)
        }
    }

    @Test func aPageHearsWhatWasEvictedAndWhy() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            _ = try await daemon.fetch(url)
            let program = try await GalleryProgram(daemon, in: scope)
            let page = try EventReader(
                port: program.port, path: "\(program.path)events?view=v", in: scope)
            _ = try await page.next("stats")
            try await daemon.cachectl("evict", "--to", "0B")
            var event = try await page.next("history")
            while !event.contains(#""kind":"evicted""#) { event = try await page.next("history") }
            #expect(event.contains(url) && event.contains(#""reason":"requested""#))
        }
    }

    @Test func anImageIsVerifiedByItsBytes() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            for name in ["/a.png", "/b.png"] {
                origin.route(name, .answer(body: SampleImage.png()))
            }
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let item = try await daemon.fetch(url)
            _ = try await daemon.fetch(origin.url("/b.png"))
            let program = try await GalleryProgram(daemon, in: scope)
            let web = WebClient(port: program.port)
            let own = ["Origin": "http://\(web.host)", "Content-Type": "application/json"]
            func isDamaged() async throws -> Bool {
                let response = try await web.request(
                    "POST", "\(program.path)verify", own, body: #"{"key":"\#(item.key)"}"#)
                return response.text.contains(#""isDamaged":true"#)
            }
            // The other entry has the same bytes.
            let info = try await web.request("GET", "\(program.path)info?key=\(item.key)").text
            #expect(info.contains(#""copies":[{"#) && info.contains("/b.png"))
            #expect(try await !isDamaged())
            let path = try daemon.path(url)
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            try file.seek(toOffset: 40)
            try file.write(contentsOf: Data([0xFF, 0xFE]))
            try file.close()
            #expect(try await isDamaged())
        }
    }
}

/// A page of the gallery's list.
private struct WebList: Decodable {
    let items: [Item]
    let total: Int
    let isWhole: Bool
    let list: Int
    let from: Int?
}
