import CacheKey
import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// Smaller images by `URL#side=N`, with the built programs.
@Suite("Deriving", .serialized, .timeLimit(.minutes(5)))
struct DerivingTests {
    // MARK: From one original

    @Test func severalSizesOfAnImageCostOneDownload() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let photo = try await Self.photo(in: scope)
            let gate = try Gate()
            origin.route("/a.jpg", .gated(photo, after: 1000, gate))
            let url = origin.url("/a.jpg")
            let daemon = try await DaemonFixture.start(in: scope)
            let fetches = try [32, 64, 256].map {
                try daemon.startCachectl("fetch", "\(url)#side=\($0)")
            }
            try await gate.reached()
            try await waitUntil("the sizes have the progress of their original") {
                let status = try await daemon.cachectl("status", "\(url)#side=64")
                return status.text.contains("1000/\(photo.count)")
            }
            gate.open()
            for (fetch, size) in zip(fetches, ["32x24", "64x48", "256x192"]) {
                #expect(try await fetch.waitForExit() == .success)
                let list = try await daemon.cachectl("list").text
                #expect(list.contains(size), "\(list)")
            }
            #expect(origin.requests("/a.jpg").count == 1)
            #expect(origin.requests().allSatisfy { !$0.target.contains("#") })
            let path = try daemon.path("\(url)#side=64")
            #expect(try contents(of: path).starts(with: [0xFF, 0xD8]))
        }
    }

    @Test func askingForTheStatusOfASizeStartsNothing() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.jpg", .answer(body: try await Self.photo(in: scope)))
            let daemon = try await DaemonFixture.start(in: scope)
            let url = origin.url("/a.jpg")
            try await daemon.obtain(url)
            let status = try await daemon.cachectl("status", "\(url)#side=64")
            #expect(status.text == "missing \(url)#side=64\n")
            #expect(Self.derivers(of: daemon) == [])
        }
    }

    @Test func anImageThatFitsIsAnotherNameOfItsOriginal() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.jpg", .answer(body: try await Self.photo(in: scope)))
            let daemon = try await DaemonFixture.start(in: scope)
            let url = origin.url("/a.jpg")
            try await daemon.obtain("\(url)#side=512")
            #expect(
                try inode(at: daemon.path(url)) == inode(at: daemon.path("\(url)#side=512")))
            #expect(Self.derivers(of: daemon) == [])
        }
    }

    /// Only what shows something behind it has to be a PNG.
    @Test func transparencyIsKept() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let folder = try TemporaryDirectory(in: scope)
            for (name, colour) in [("clear", "#00800080"), ("opaque", "#008000FF")] {
                let path = folder.file("\(name).png")
                try await runSuccessfully(
                    "convert", ["-size", "100x50", "xc:\(colour)", "PNG32:\(path)"])
                origin.route("/\(name).png", .answer(body: try contents(of: path)))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            for (name, type) in [("clear", "image/png"), ("opaque", "image/jpeg")] {
                let url = origin.url("/\(name).png") + "#side=64"
                try await daemon.obtain(url)
                #expect(try await daemon.cachectl("status", url).text.contains(type))
            }
        }
    }

    @Test(arguments: 1...8)
    func imagesAreTurnedAsPillowTurnsThem(orientation: Int) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let folder = try TemporaryDirectory(in: scope)
            try await runSuccessfully(
                "/usr/bin/python3", ["-c", Self.turned, folder.path, "\(orientation)"])
            let daemon = try await DaemonFixture.start(in: scope)
            for name in ["a.png", "a.jpg"] {
                origin.route("/\(name)", .answer(body: try contents(of: folder.file(name))))
                let url = origin.url("/\(name)") + "#side=64"
                try await daemon.obtain(url)
                let answer = try await run(
                    "/usr/bin/python3",
                    ["-c", Self.compared, folder.file(name), try daemon.path(url)])
                #expect(answer.status == .success, "\(name): \(answer.text)\(answer.errorText)")
            }
        }
    }

    /// A picture of 40 by 30 pixels, none of which looks like another one after a turn.
    private static let turned = """
        import sys
        from PIL import Image
        folder, orientation = sys.argv[1], int(sys.argv[2])
        picture = Image.new("RGBA", (40, 30))
        picture.putdata([(6 * x, 8 * y, 128, 255 - x - y) for y in range(30) for x in range(40)])
        exif = Image.Exif()
        exif[0x0112] = orientation
        picture.save(folder + "/a.png", exif=exif)
        picture.convert("RGB").save(folder + "/a.jpg", exif=exif, quality=98, subsampling=0)
        """
    /// Fails unless the second picture is the first one, turned. A JPEG was encoded once more.
    private static let compared = """
        import sys
        from PIL import Image, ImageChops, ImageOps
        original, derived = Image.open(sys.argv[1]), Image.open(sys.argv[2])
        turned = ImageOps.exif_transpose(original)
        most = 0 if derived.format == "PNG" else 8
        worst = max(high for low, high in ImageChops.difference(turned, derived.convert(turned.mode)).getextrema())
        print(turned.size, derived.size, derived.format, worst)
        sys.exit(turned.size != derived.size or worst > most)
        """

    // MARK: Without the original

    @Test func aSizeOutlivesItsOriginalAndIsConfirmedWithoutIt() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let photo = try await Self.photo(in: scope)
            origin.route("/a.jpg") { request in
                request.headers["If-None-Match"] == "\"1\""
                    ? .answer(304, headers: ["ETag": "\"1\""])
                    : .answer(headers: ["ETag": "\"1\""], body: photo)
            }
            let url = origin.url("/a.jpg")
            let daemon = try await DaemonFixture.start(in: scope)
            try await daemon.obtain("\(url)#side=64")
            #expect(unlink(try daemon.path(url)) == 0)
            let before = try inode(at: daemon.path("\(url)#side=64"))
            #expect(
                try await daemon.cachectl("fetch", "--refresh", "\(url)#side=64").status == .success
            )
            #expect(origin.requests("/a.jpg").count == 2)
            #expect(try inode(at: daemon.path("\(url)#side=64")) == before)
            #expect(try await daemon.cachectl("status", url).text == "missing \(url)\n")
        }
    }

    @Test func aNewVersionReplacesTheOriginalAndTheSize() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let (first, second) = (
                try await Self.photo(in: scope), try await Self.photo(in: scope, seed: 2)
            )
            origin.route("/a.jpg", .answer(headers: ["ETag": "\"1\""], body: first))
            let url = origin.url("/a.jpg")
            let daemon = try await DaemonFixture.start(in: scope)
            try await daemon.obtain("\(url)#side=64")
            let before = try contents(of: daemon.path("\(url)#side=64"))
            #expect(unlink(try daemon.path(url)) == 0)
            origin.route("/a.jpg", .answer(headers: ["ETag": "\"2\""], body: second))
            #expect(
                try await daemon.cachectl("fetch", "--refresh", "\(url)#side=64").status == .success
            )
            #expect(try contents(of: daemon.path("\(url)#side=64")) != before)
            #expect(try contents(of: daemon.path(url)) == second)
        }
    }

    @Test func aConfirmedOriginalConfirmsItsSizes() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let photo = try await Self.photo(in: scope)
            origin.route("/a.jpg") { request in
                request.headers["If-None-Match"] == "\"1\""
                    ? .answer(304, headers: ["ETag": "\"1\""])
                    : .answer(headers: ["ETag": "\"1\""], body: photo)
            }
            let url = origin.url("/a.jpg")
            let daemon = try await DaemonFixture.start(in: scope)
            try await daemon.obtain("\(url)#side=64")
            let before = try inode(at: daemon.path("\(url)#side=64"))
            #expect(
                try await daemon.cachectl("fetch", "--refresh", "\(url)#side=64").status == .success
            )
            #expect(origin.requests("/a.jpg").map(\.headers["If-None-Match"]) == [nil, "\"1\""])
            #expect(try inode(at: daemon.path("\(url)#side=64")) == before)
        }
    }

    @Test func aLargerSizeTakesThePlaceOfAnEvictedOriginal() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route(
                "/a.jpg",
                .answer(
                    headers: ["Cache-Control": "max-age=1000"],
                    body: try await Self.photo(in: scope)))
            let url = origin.url("/a.jpg")
            let daemon = try await DaemonFixture.start(in: scope)
            try await daemon.obtain("\(url)#side=256")
            #expect(unlink(try daemon.path(url)) == 0)
            try await daemon.obtain("\(url)#side=64")
            #expect(origin.requests("/a.jpg").count == 1)
        }
    }

    @Test func aMissingImageNamesTheLargestSmallerOneThatIsThere() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.jpg", .answer(body: try await Self.photo(in: scope)))
            let url = origin.url("/a.jpg")
            let daemon = try await DaemonFixture.start(in: scope)
            for side in [32, 128] { try await daemon.obtain("\(url)#side=\(side)") }
            #expect(try await daemon.status(url, details: true).standIn == nil)
            #expect(unlink(try daemon.path(url)) == 0)
            for (missing, shown) in [("", 128), ("#side=256", 128), ("#side=64", 32)] {
                let path = try daemon.path("\(url)#side=\(shown)")
                let item = try await daemon.status(url + missing, details: true)
                #expect(item.state == .missing && item.standIn == path)
                for (program, words) in try Self.libraries(daemon.directory, url + missing) {
                    let output = try await run(
                        program, words,
                        environment: minimalEnvironment(["PYTHONDONTWRITEBYTECODE": "1"]))
                    #expect(output.text == path + "\n", "\(program): \(output.errorText)")
                }
            }
            #expect(origin.requests("/a.jpg").count == 1)
        }
    }

    /// Commands that print the path of the smaller image, as the libraries for applications find it.
    private static func libraries(_ directory: String, _ url: String) throws -> [(String, [String])]
    {
        let clients = URL(filePath: #filePath).appending(path: "../../../clients").standardized
            .path(percentEncoded: false)
        return [
            (
                "python3",
                [
                    "-c",
                    """
                    import sys
                    sys.path.insert(0, sys.argv[1])
                    from cached_client import Cache
                    print(Cache(sys.argv[2]).stand_in(sys.argv[3]).path)
                    """, clients + "/python", directory, url,
                ]
            ),
            (
                "node",
                [
                    "--input-type=module", "-e",
                    """
                    const [, clients, directory, url] = process.argv
                    const { Cache } = await import(clients + '/javascript/index.js')
                    console.log(new Cache({ directory }).standIn(url).path)
                    """, clients, directory, url,
                ]
            ),
        ]
    }

    @Test func removingAnImageRemovesItsSizes() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.jpg", .answer(body: try await Self.photo(in: scope)))
            let url = origin.url("/a.jpg")
            let daemon = try await DaemonFixture.start(in: scope)
            for side in [32, 128, 512] { try await daemon.obtain("\(url)#side=\(side)") }
            try await daemon.cachectl("remove", "\(url)#side=32")
            #expect(try await daemon.metric("entries") == 3)
            try await daemon.cachectl("remove", url)
            #expect(try await daemon.metric("entries") == 0)
        }
    }

    // MARK: The worker

    @Test func theWorkerIsConfined() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.jpg", .answer(body: try await Self.photo(in: scope)))
            let daemon = try await DaemonFixture.start(in: scope)
            try await daemon.obtain(origin.url("/a.jpg") + "#side=64")
            let worker = try #require(Self.derivers(of: daemon).first)
            let status = try String(
                decoding: contents(of: "/proc/\(worker)/status"), as: UTF8.self)
            #expect(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"))
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(worker)/fd")
            #expect(Set(open).isSubset(of: ["0", "1", "2", "3"]), "\(open)")
        }
    }

    @Test func aWorkerThatIsKilledCostsOneImage() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.jpg", .answer(body: try await Self.photo(in: scope)))
            let url = origin.url("/a.jpg")
            let daemon = try await DaemonFixture.start(in: scope)
            try await daemon.obtain("\(url)#side=256")
            for worker in Self.derivers(of: daemon) { kill(worker, SIGSTOP) }
            let fetch = try daemon.startCachectl("fetch", "\(url)#side=64")
            try await waitUntil("it is being derived") {
                let status = try await daemon.cachectl("status", "--json", "\(url)#side=64")
                return status.text.contains("\"deriving\"")
            }
            for worker in Self.derivers(of: daemon) { kill(worker, SIGKILL) }
            #expect(try await fetch.waitForExit() == .exited(1))
            #expect(fetch.text(.standardError).contains("cached-deriver ended"))
            #expect(try await daemon.cachectl("status", url).status == .success)
            try await daemon.obtain("\(url)#side=128")
            #expect(origin.requests("/a.jpg").count == 1)
        }
    }

    /// As a browser does that scrolls past an image.
    @Test func aPageThatWaitsNoLongerAsksForNoThumbnail() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let photo = try await Self.photo(in: scope)
            origin.route("/a.jpg", .answer(headers: ["Cache-Control": "max-age=900"], body: photo))
            let url = origin.url("/a.jpg")
            let daemon = try await DaemonFixture.start(in: scope)
            try await daemon.obtain("\(url)#side=256")
            let gallery = try await GalleryProgram(daemon, in: scope)
            let connection = try daemon.connect()
            func connections() async throws -> Int {
                let stats = try await connection.ask(call("Stats")).parameters?.stats
                guard case .int(let count)? = stats?["connections"] else {
                    throw TestFailure("no connections")
                }
                return count
            }
            let workers = Self.derivers(of: daemon)
            for worker in workers { kill(worker, SIGSTOP) }
            scope.atEnd { for worker in workers { kill(worker, SIGCONT) } }
            let page = try WebConnection.connect(gallery.port)
            let request = Array(
                "GET \(gallery.path)thumbnail?side=64&url=\(url) HTTP/1.1\r\nHost: 127.0.0.1:\(gallery.port)\r\n\r\n"
                    .utf8)
            #expect(send(page, request, request.count, 0) == request.count)
            try await waitUntil("the daemon is asked") {
                let reply = try await connection.ask(call("Status", ["\(url)#side=64"]))
                return reply.items.first?.phase == .deriving
            }
            // This one, that of the gallery, and that of the thumbnail.
            try await waitUntil("three connections") { try await connections() == 3 }
            close(page)
            try await waitUntil("it is not asked any more") { try await connections() == 2 }
        }
    }

    @Test func aWorkerThatHangsIsEnded() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.jpg", .answer(body: try await Self.photo(in: scope)))
            let url = origin.url("/a.jpg")
            let daemon = try await DaemonFixture.start(in: scope)
            try await daemon.obtain("\(url)#side=256")
            let workers = Self.derivers(of: daemon)
            for worker in workers { kill(worker, SIGSTOP) }
            let fetch = try await daemon.cachectl("fetch", "\(url)#side=64")
            #expect(fetch.status == .exited(1))
            #expect(fetch.errorText.contains("took too long"))
            #expect(Set(Self.derivers(of: daemon)).isDisjoint(with: workers))
        }
    }

    @Test func aWorkerWithoutWorkEnds() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.jpg", .answer(body: try await Self.photo(in: scope)))
            let daemon = try await DaemonFixture.start(in: scope)
            try await daemon.obtain(origin.url("/a.jpg") + "#side=64")
            #expect(!Self.derivers(of: daemon).isEmpty)
            try await waitUntil("it has ended, after 10 s") { Self.derivers(of: daemon).isEmpty }
        }
    }

    /// What a worker can do that an image has taken over.
    @Test(arguments: HostileWorker.allCases)
    func aHostileWorkerCostsItsImage(habit: HostileWorker) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.jpg", .answer(body: try await Self.photo(in: scope)))
            let url = origin.url("/a.jpg")
            let daemon = try await habit.daemon(in: scope)
            let item = try #require(
                try await daemon.ask(
                    call("Fetch", parameters: #""wants":[{"url":"\#(url)#side=64"}]"#)
                ).items.first)
            #expect(item.failure?.kind == "underivable", "\(item)")
            #expect(try await daemon.status(url).state == .cached)
            let names = try FileManager.default.contentsOfDirectory(atPath: daemon.directory)
            #expect(names.filter { $0.utf8.count == 36 }.count == 1)
        }
    }

    // MARK: Callers with little time

    /// The daemon's own attempts go on for the caller who has more time.
    @Test func theAttemptsOfASizeAreThoseOfItsOriginal() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.jpg", .answer(503))
            let daemon = try await DaemonFixture.start(
                environment: ["CACHED_ATTEMPTS": "4"], in: scope)
            let url = origin.url("/a.jpg")
            let patient = try daemon.startCachectl("fetch", "\(url)#side=64")
            _ = try await origin.waitForRequest("/a.jpg", count: 1)
            let want = #"{"url":"\#(url)#side=64","attempts":1}"#
            let reply = try await daemon.ask(call("Fetch", parameters: #""wants":[\#(want)]"#))
            #expect(reply.items.first?.failure?.httpStatus == 503)
            origin.route("/a.jpg", .answer(body: try await Self.photo(in: scope)))
            #expect(
                try await patient.waitForExit() == .success, "\(patient.text(.standardError))")
        }
    }

    // MARK: Parts

    /// A JPEG of 400 by 300 pixels.
    private static func photo(in scope: TestScope, seed: Int = 1) async throws -> [UInt8] {
        let path = try TemporaryDirectory(in: scope).file("photo.jpg")
        try await runSuccessfully(
            "convert", ["-size", "400x300", "-seed", "\(seed)", "plasma:fractal", path])
        return try contents(of: path)
    }

    /// The processes that the daemon has started.
    private static func derivers(of daemon: DaemonFixture) -> [Int32] {
        let threads = "/proc/\(daemon.process.pid)/task"
        do {
            return try FileManager.default.contentsOfDirectory(atPath: threads).flatMap { thread in
                let text = try contents(of: "\(threads)/\(thread)/children")
                return String(decoding: text, as: UTF8.self).split(separator: " ")
                    .compactMap { Int32($0) }
            }
        } catch {
            return []
        }
    }
}

extension DaemonFixture {
    fileprivate func obtain(_ url: String) async throws {
        let output = try await cachectl("fetch", url)
        #expect(output.status == .success, "\(output.errorText)")
    }
}

/// A program in the place of `cached-deriver`.
enum HostileWorker: String, CaseIterable {
    case writesNonsense = "os.write(out, os.urandom(5000)); answer(b'+')"
    case writesNothing = "answer(b'+')"
    case makesAHugeFile = "os.ftruncate(out, 1 << 40); answer(b'+')"
    case makesAnImageThatIsTooLarge = "os.write(out, os.pread(original, 1 << 24, 0)); answer(b'+')"
    case cutsTheImage = "os.write(out, os.pread(original, 500, 0)); answer(b'+')"
    case givesNoReason = "answer(b'-')"
    case givesALongReason = "answer(b'-' + bytes(range(256)) * 100)"
    case saysSomethingElse = "answer(bytes(1))"
    case answersThrice = "[answer(b'+') for _ in range(3)]"
    case sendsNothing = "link.send(b'')"
    case ends = "os._exit(0)"

    /// A daemon that starts it. The daemon looks beside its own program first.
    func daemon(in scope: TestScope) async throws -> DaemonFixture {
        let folder = try TemporaryDirectory(in: scope)
        let program = try BuiltProducts.program("cached")
        try await runSuccessfully("cp", ["--reflink=auto", program, folder.file("cached")])
        let script = """
            #!/usr/bin/python3 -I
            import os, socket
            link = socket.socket(fileno=3)
            answer = link.send
            while True:
                said, (original, out), flags, peer = socket.recv_fds(link, 16, 2)
                \(rawValue)
            """
        try folder.write(Array(script.utf8), to: "cached-deriver")
        try await runSuccessfully("chmod", ["755", folder.file("cached-deriver")])
        var options = DaemonFixture.Options()
        options.arguments = ["--restrict", "no"]
        options.launcher = ["/bin/sh", "-c", "shift; exec \(folder.file("cached")) \"$@\"", "sh"]
        return try await DaemonFixture.start(options, in: scope)
    }
}

/// The number of the inode of a file. stat(2)
private func inode(at path: String) throws -> ino_t {
    var status = stat()
    guard stat(path, &status) == 0 else { throw TestFailure("there is no \(path)") }
    return status.st_ino
}
