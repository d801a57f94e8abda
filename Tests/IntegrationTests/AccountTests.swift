import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// Images of accounts: `URL#as=NAME`.
@Suite("Accounts", .timeLimit(.minutes(5)))
struct AccountTests {
    private static let ada = SampleImage.png(byteCount: 3000)
    private static let bob = SampleImage.png(byteCount: 4000)

    /// An origin that has an image for each of two accounts, fresh for `lifetime` seconds, and none for strangers.
    private func origin(
        lifetime: Int = 3600, _ more: String = "", in scope: TestScope
    ) throws -> ScriptedOrigin {
        let origin = try ScriptedOrigin(in: scope)
        origin.route("/a.png") { request in
            let headers: HeaderFields = [
                "Cache-Control": "private, max-age=\(lifetime)\(more)",
                "Vary": "Authorization, Cookie",
                "ETag": "\"1\"",
            ]
            let image =
                switch request.headers["Authorization"] {
                case "Bearer ada-secret": Self.ada
                case "Bearer bob-secret": Self.bob
                default: [UInt8]()
                }
            guard !image.isEmpty else { return .answer(401) }
            if request.headers["If-None-Match"] == "\"1\"" { return .answer(304, headers: headers) }
            return .answer(headers: headers, body: image)
        }
        return origin
    }

    private func fetch(
        _ daemon: DaemonFixture, _ url: String, secret: String? = nil
    ) async throws -> Item {
        let headers = secret.map { #","headers":{"Authorization":"Bearer \#($0)"}"# } ?? ""
        let want = #"{"url":"\#(url)"\#(headers)}"#
        let reply = try await daemon.ask(call("Fetch", parameters: #""wants":[\#(want)]"#))
        return try #require(reply.items.first)
    }

    @Test func twoAccountsNeverSeeEachOthersBytes() async throws {
        try await withTestScope { scope in
            let origin = try origin(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let url = origin.url("/a.png")
            for (name, image) in [("ada", Self.ada), ("bob", Self.bob)] {
                let item = try await fetch(daemon, "\(url)#as=\(name)", secret: "\(name)-secret")
                #expect(item.state == .cached)
                let path = try daemon.path("\(url)#as=\(name)")
                #expect(item.path == path)
                #expect(try contents(of: path) == image)
                #expect(
                    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
                        as? Int == 0o600)
            }
            // What needed no account has its own answer, and a refusal is that of one account.
            #expect(try await fetch(daemon, url).failure?.httpStatus == 401)
            #expect(
                try await fetch(daemon, "\(url)#as=eve", secret: "wrong").failure?.httpStatus == 401
            )
            #expect(try await fetch(daemon, "\(url)#as=eve", secret: "bob-secret").state == .cached)
            #expect(origin.requests("/a.png").count == 5)
            #expect(origin.requests().allSatisfy { !$0.target.contains("#") })
        }
    }

    /// Their link count would tell each that the other has the image.
    @Test func equalBytesOfTwoAccountsAreTwoFiles() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: Self.ada))
            let daemon = try await DaemonFixture.start(in: scope)
            let names = ["", "#as=ada", "#as=bob"].map { origin.url("/a.png") + $0 }
            #expect(try await fetch(daemon, names[0]).state == .cached)
            for name in names[1...] {
                #expect(try await fetch(daemon, name, secret: "x").state == .cached)
            }
            for name in names {
                var status = stat()
                #expect(stat(try daemon.path(name), &status) == 0 && status.st_nlink == 1)
            }
        }
    }

    /// The shelf of an application: its own pins and its own "clear cache", and no byte twice.
    @Test func withoutFieldsAnAccountHasTheImageOfEverybody() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route(
                "/a.png", .answer(headers: ["Cache-Control": "max-age=3600"], body: Self.ada))
            let daemon = try await DaemonFixture.start(in: scope)
            let url = origin.url("/a.png")
            for name in ["\(url)#as=app", url, "\(url)#as=other"] {
                #expect(try await fetch(daemon, name).state == .cached)
            }
            #expect(origin.requests().count == 1)
            var status = stat()
            #expect(stat(try daemon.path(url), &status) == 0 && status.st_nlink == 3)
            #expect(try await daemon.cachectl("remove", "--as", "app").status == .success)
            #expect(try await daemon.status("\(url)#as=app").state == .missing)
            #expect(try contents(of: daemon.path("\(url)#as=other")) == Self.ada)
        }
    }

    @Test func aStaleImageStaysUntilFieldsComeAgain() async throws {
        try await withTestScope { scope in
            let origin = try origin(lifetime: 0, in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let url = origin.url("/a.png#as=ada")
            #expect(try await fetch(daemon, url, secret: "ada-secret").state == .cached)
            #expect(try await fetch(daemon, url).state == .cached)
            #expect(origin.requests("/a.png").count == 1)
            #expect(try await fetch(daemon, url, secret: "ada-secret").state == .cached)
            let requests = origin.requests("/a.png")
            #expect(requests.map { $0.headers["If-None-Match"] } == [nil, "\"1\""])
        }
    }

    /// Without them the origin would answer for a stranger.
    @Test func theBackgroundRequestHasTheFieldsToo() async throws {
        try await withTestScope { scope in
            let origin = try origin(
                lifetime: 0, ", stale-while-revalidate=600", in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let url = origin.url("/a.png#as=ada")
            for _ in 0..<2 {
                #expect(try await fetch(daemon, url, secret: "ada-secret").state == .cached)
            }
            let second = try await origin.waitForRequest("/a.png", count: 2)
            #expect(second.headers["Authorization"] == "Bearer ada-secret")
        }
    }

    @Test func whatHasToBeConfirmedStaysAndFailsWithoutFields() async throws {
        try await withTestScope { scope in
            let origin = try origin(lifetime: 0, ", must-revalidate", in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let url = origin.url("/a.png#as=ada")
            #expect(try await fetch(daemon, url, secret: "ada-secret").state == .cached)
            #expect(try await fetch(daemon, url).failure?.kind == "notCached")
            let refresh = try await daemon.cachectl("fetch", "--refresh", url)
            #expect(refresh.status == .exited(1))
            #expect(refresh.errorText.contains("header fields of the account"))
            #expect(try contents(of: daemon.path(url)) == Self.ada)
            #expect(origin.requests("/a.png").count == 1)
        }
    }

    /// A stale copy of everybody's image is replaced by that of the account, not confirmed for it.
    @Test func anAccountTakesTheNameOfAShelfWithAFileOfItsOwn() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png") { request in
                let headers: HeaderFields = ["Cache-Control": "max-age=0", "ETag": "\"1\""]
                if request.headers["If-None-Match"] != nil { return .answer(304, headers: headers) }
                return .answer(headers: headers, body: Self.ada)
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let url = origin.url("/a.png")
            #expect(try await fetch(daemon, "\(url)#as=ada").state == .cached)
            #expect(try await fetch(daemon, "\(url)#as=ada", secret: "s").state == .cached)
            for name in [url, "\(url)#as=ada"] {
                var status = stat()
                #expect(stat(try daemon.path(name), &status) == 0 && status.st_nlink == 1)
            }
        }
    }

    @Test func aRedirectToAnotherOriginGetsNoFields() async throws {
        try await withTestScope { scope in
            let (origin, other) = (try ScriptedOrigin(in: scope), try ScriptedOrigin(in: scope))
            origin.route("/a.png", .redirect(to: "/b.png"))
            origin.route("/b.png", .redirect(to: other.url("/c.png")))
            other.route("/c.png", .answer(body: Self.ada))
            let daemon = try await DaemonFixture.start(in: scope)
            let item = try await fetch(daemon, origin.url("/a.png#as=ada"), secret: "s")
            #expect(item.state == .cached)
            let sent = (origin.requests() + other.requests()).map { $0.headers["Authorization"] }
            #expect(sent == ["Bearer s", "Bearer s", nil])
        }
    }

    @Test(arguments: [
        (#"{"url":"http://a/","headers":{"Cookie":"a"}}"#, "add #as=NAME"),
        (#"{"url":"http://a/#as=b","headers":{"Host":"c"}}"#, "the daemon itself sets Host"),
        (#"{"url":"http://a/#as=b","headers":{"If-None-Match":"c"}}"#, "itself sets If-None-Match"),
        (#"{"url":"http://a/#as=b","headers":{"X Y":"secret"}}"#, "is not a header field"),
        (#"{"url":"http://a/#as=b","headers":{"X":"a\r\nB: secret"}}"#, "is not a header field"),
        (#"{"url":"http://a/#as=b","headers":{"X":"1","x":"2"}}"#, "a field is there twice"),
    ])
    func fieldsThatCannotBeSentAreTheFailureOfTheirImage(
        want: String, problem: String
    ) async throws {
        try await withTestScope { scope in
            let origin = try origin(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let other =
                #"{"url":"\#(origin.url("/a.png"))#as=ada","headers":{"Authorization":"Bearer ada-secret"}}"#
            let reply = try await daemon.ask(
                call("Fetch", parameters: #""wants":[\#(want),\#(other)]"#))
            #expect(reply.items.map(\.state) == [.missing, .cached])
            let failure = try #require(reply.items.first?.failure)
            #expect(failure.kind == "invalidHeaders")
            #expect(failure.message.contains(problem) && !failure.message.contains("secret"))
        }
    }

    @Test func aSharedDaemonHasNoAccounts() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(["--shared", "yes"], in: scope)
            let item = try await fetch(daemon, "http://a.example/#as=ada", secret: "s")
            #expect(item.failure?.kind == "invalidURL")
            #expect(item.failure?.message.contains("a daemon of your own") == true)
        }
    }

    @Test func logOutIsOneCommand() async throws {
        try await withTestScope { scope in
            let origin = try origin(in: scope)
            let gate = try Gate()
            origin.route("/slow.png", .gated(Self.ada, after: 90, gate))
            let daemon = try await DaemonFixture.start(in: scope)
            let file = try TemporaryDirectory(in: scope)
            try file.write(Array("# a token\nAuthorization: Bearer ada-secret\n".utf8), to: "ada")
            let url = origin.url("/a.png")
            let fetched = try await daemon.cachectl(
                "fetch", "--as", "ada", "--header-file", file.file("ada"), url)
            #expect(fetched.lines == [try daemon.path("\(url)#as=ada")])
            #expect(try await fetch(daemon, "\(url)#as=bob", secret: "bob-secret").state == .cached)
            _ = try await daemon.cachectl(
                "fetch", "--as", "ada", "--no-wait", origin.url("/slow.png"))
            try await gate.reached()
            let list = try await daemon.cachectl("list", "--as", "ada", "--json")
            #expect(list.lines.count == 1)
            #expect(try await daemon.cachectl("remove", "--as", "ada").status == .success)
            #expect(try await daemon.status("\(url)#as=ada").state == .missing)
            #expect(try await daemon.status(origin.url("/slow.png#as=ada")).state == .missing)
            #expect(try await daemon.status("\(url)#as=bob").state == .cached)
            gate.open()
        }
    }

    /// Neither the folder nor the log has a credential, also after a failure, and a crash would write none.
    @Test func noCredentialIsWrittenAnywhere() async throws {
        try await withTestScope { scope in
            let origin = try origin(in: scope)
            let daemon = try await DaemonFixture.start(["--log-level", "debug"], in: scope)
            let url = origin.url("/a.png#as=ada")
            #expect(try await fetch(daemon, url, secret: "ada-secret").state == .cached)
            #expect(
                try await fetch(daemon, origin.url("/none.png#as=ada"), secret: "ada-secret").state
                    == .missing)
            let stats = try await daemon.cachectl("stats", "--json").text
            let limits = try contents(of: "/proc/\(daemon.process.pid)/limits")
            let core = String(decoding: limits, as: UTF8.self).split(separator: "\n")
                .first { $0.hasPrefix("Max core file size") }
            #expect(core?.split(separator: " ").dropFirst(4).first == "0", "\(core ?? "")")
            try await daemon.stop()
            #expect(!stats.contains("ada-secret") && !daemon.log.contains("ada-secret"))
            let search = try await run(
                "/bin/sh",
                [
                    "-c",
                    "grep -ra ada-secret \(daemon.directory); getfattr -R -d -m- \(daemon.directory) | grep ada-secret",
                ])
            #expect(search.text == "")
        }
    }
}
