import CacheWire
import Foundation
import TestSupport
import Testing

/// Which requests the gallery refuses. Each test sends the bytes itself, as no browser would.
@Suite(.timeLimit(.minutes(2)))
struct GalleryAccessTests {
    /// A running gallery with one image.
    private struct Place {
        let web: WebClient
        let program: GalleryProgram
        let daemon: DaemonFixture
        let url: String

        /// `/TOKEN/`
        var path: String { program.path }
        var origin: String { "http://\(web.host)" }

        func get(_ name: String, _ fields: [String: String] = [:]) async throws -> WebResponse {
            try await web.request("GET", path + name, fields)
        }

        func post(
            _ name: String, _ body: String, _ fields: [String: String?] = [:]
        ) async throws -> WebResponse {
            var all: [String: String] = ["Origin": origin, "Content-Type": "application/json"]
            for (name, value) in fields { all[name] = value }
            return try await web.request("POST", path + name, all, body: body)
        }
    }

    private func place(in scope: TestScope) async throws -> Place {
        let origin = try ScriptedOrigin(in: scope)
        origin.route("/a.png", .answer(body: SampleImage.png()))
        let daemon = try await DaemonFixture.start(in: scope)
        let url = origin.url("/a.png")
        _ = try await daemon.fetch(url)
        let program = try await GalleryProgram(daemon, in: scope)
        return Place(
            web: WebClient(port: program.port), program: program, daemon: daemon, url: url)
    }

    @Test func onlyTheSecretPathLeadsAnywhere() async throws {
        try await withTestScope { scope in
            let place = try await place(in: scope)
            #expect(try await place.get("").status == 200)
            let token = place.path.dropFirst().dropLast()
            // 192 bits.
            #expect(token.count == 32)
            let other = String(token.dropLast()) + (token.last == "A" ? "B" : "A")
            for path in [
                "/", "/\(other)/", "/\(token)", "/\(token.lowercased())/x", "//\(token)/",
                "/x/../\(token)/", "/\(token)/../\(token)/", "/\(token)/%2e%2e/gallery.js",
                "/\(token)/index.html/", "/\(token)/Page/gallery.js", "/gallery.js", "*", "",
                "http://\(place.web.host)/gallery.js", "/\(token)/image/../../etc/passwd",
                "/\(token)/image/c01a4429-4703-5b6a-8726-7982c1849d2a", "/\(token)/image/",
            ] {
                let status = try await place.web.request("GET", path).status
                #expect([400, 404].contains(status), "\(path)")
            }
        }
    }

    @Test func anotherHostIsNotThisServer() async throws {
        try await withTestScope { scope in
            let place = try await place(in: scope)
            for host in [
                "attacker.example", "127.0.0.1", "localhost", "127.0.0.1:1",
                "[::1]:\(place.web.port)",
                "\(place.web.host).attacker.example", "localhost:\(place.web.port).", "",
            ] {
                let response = try await place.web.request("GET", place.path, ["Host": host])
                #expect(response.status == 421, "\(host)")
                #expect(!response.text.contains("<html"))
            }
            let twice = try await place.web.send(
                "GET \(place.path) HTTP/1.1\r\nHost: \(place.web.host)\r\nHost: a.example\r\n\r\n")
            #expect([400, 421].contains(twice.status))
            let none = try await place.web.send("GET \(place.path) HTTP/1.0\r\n\r\n")
            #expect(none.status == 421)
            let other = try await place.get("", ["Host": "localhost:\(place.web.port)"])
            #expect(other.status == 200)
        }
    }

    @Test func otherSitesGetNothing() async throws {
        try await withTestScope { scope in
            let place = try await place(in: scope)
            for site in ["cross-site", "same-site", "x", ""] {
                let fields = ["Sec-Fetch-Site": site]
                #expect(try await place.get("list?view=v", fields).status == 403)
                #expect(try await place.get("gallery.js", fields).status == 403)
                #expect(try await place.get("", fields).status == 403)
            }
            for origin in ["http://a.example", "null", "https://\(place.web.host)"] {
                #expect(try await place.get("list?view=v", ["Origin": origin]).status == 403)
            }
            // An image in a page of another site, and a frame.
            let frame = [
                "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
                "Sec-Fetch-Dest": "iframe",
            ]
            #expect(try await place.get("", frame).status == 403)
            // The file that leads a browser here.
            let page = frame.merging(["Sec-Fetch-Dest": "document"]) { $1 }
            #expect(try await place.get("", page).status == 200)
            #expect(try await place.get("list?view=v", page).status == 403)
            #expect(
                try await place.get("list?view=v", ["Sec-Fetch-Site": "same-origin"]).status == 200)
        }
    }

    @Test func actionsComeFromThePageAlone() async throws {
        try await withTestScope { scope in
            let place = try await place(in: scope)
            let body = #"{"urls":["\#(place.url)"]}"#
            let sites: [[String: String?]] = [
                ["Origin": .none], ["Origin": .some("http://a.example")], ["Origin": .some("null")],
                ["Origin": .some("http://127.0.0.1")], ["Sec-Fetch-Site": .some("cross-site")],
            ]
            for fields in sites {
                #expect(try await place.post("remove", body, fields).status == 403, "\(fields)")
            }
            let types: [String?] = [
                nil, "text/plain", "application/x-www-form-urlencoded", "application/jsonx",
            ]
            for type in types {
                let fields: [String: String?] = ["Content-Type": type]
                let response = try await place.post("remove", body, fields)
                #expect(response.status == 415)
            }
            for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
                let fields = ["Origin": place.origin, "Content-Type": "application/json"]
                let response = try await place.web.request(
                    method, place.path + "remove", fields, body: body)
                #expect(response.status == 405, "\(method)")
            }
            #expect(try await place.get("remove?urls=\(place.url)").status == 404)
            #expect(try await place.daemon.status(place.url).state == .cached)
            #expect(try await place.post("remove", body).status == 200)
            #expect(try await place.daemon.status(place.url).state == .missing)
        }
    }

    @Test func badBodiesAndParametersAreRefused() async throws {
        try await withTestScope { scope in
            let place = try await place(in: scope)
            for body in ["", "{", "[]", #"{"urls":1}"#, #"{"urls":[null]}"#, "\u{0}"] {
                #expect(try await place.post("remove", body).status == 400, "\(body)")
            }
            let nested = String(repeating: "[", count: 100_000)
            #expect(try await place.post("pin", #"{"urls":\#(nested)"#).status == 400)
            let many = Array(repeating: place.url, count: 1001)
            let visible = #"{"view":"v","urls":["\#(many.joined(separator: "\",\""))"]}"#
            #expect(try await place.post("visible", visible).status == 400)
            for query in [
                "list", "list?view=", "list?view=a/b", "list?view=v&view=w", "list?view=v&order=x",
                "list?view=v&limit=0", "list?view=v&limit=501", "list?view=v&state=x",
                "list?view=%ff", "list?view=%2", "items?view=v&from=-1&count=1",
                "items?view=v&from=0&count=501", "items?view=v&from=99999999999999999999&count=1",
                "info", "events", "list?view=\(String(repeating: "v", count: 65))",
            ] {
                #expect(try await place.get(query).status == 400, "\(query)")
            }
            let info = try await place.get("info?key=../../etc/passwd")
            #expect(info.text.contains("message") && !info.text.contains("root:"))
        }
    }

    @Test func longHeadsAndBodiesEnd() async throws {
        try await withTestScope { scope in
            let place = try await place(in: scope)
            let long = String(repeating: "x", count: 20_000)
            let head = try await place.web.request("GET", place.path, ["X": long])
            #expect(head.status == 431 || head.status == 400)
            let url = try await place.web.request("GET", "\(place.path)?\(long)\(long)")
            #expect(url.status == 431 || url.status == 400)
            let fields = (0..<100).map { ("X-\($0)", "x") }
            let many = try await place.web.request(
                "GET", place.path, .init(uniqueKeysWithValues: fields))
            #expect(many.status == 431 || many.status == 400)
            let body = try await place.post("pin", String(repeating: " ", count: (1 << 20) + 1))
            #expect(body.status == 413)
            // Still there.
            #expect(try await place.get("").status == 200)
        }
    }

    @Test func everyAnswerKeepsBrowsersStrict() async throws {
        try await withTestScope { scope in
            let place = try await place(in: scope)
            let key = try await place.daemon.status(place.url).key
            let names = [
                "", "gallery.js", "list?view=v", "info?key=\(key)", "image/\(key)", "nothing",
            ]
            for name in names {
                let response = try await place.get(name)
                #expect(response.fields["x-content-type-options"] == "nosniff", "\(name)")
                #expect(response.fields["referrer-policy"] == "no-referrer")
                #expect(response.fields["cross-origin-resource-policy"] == "same-origin")
                #expect(response.fields["set-cookie"] == nil)
                #expect(response.fields["access-control-allow-origin"] == nil)
                let policy = try #require(response.fields["content-security-policy"])
                #expect(policy.contains("default-src 'none'"))
                #expect(policy.contains("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe"))
            }
            let page = try await place.get("").fields["content-security-policy"] ?? ""
            #expect(page.contains("require-trusted-types-for 'script'"))
            let image = try await place.get("image/\(key)").fields["content-security-policy"] ?? ""
            #expect(image.contains("sandbox"))
        }
    }

    @Test func anSVGImageIsOnlyDownloaded() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let svg = #"<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>"#
            origin.route(
                "/a.svg",
                .answer(headers: ["Content-Type": "image/svg+xml"], body: Array(svg.utf8)))
            let daemon = try await DaemonFixture.start(["--accept", "svg"], in: scope)
            _ = try await daemon.fetch(origin.url("/a.svg"))
            let program = try await GalleryProgram(daemon, in: scope)
            let key = try await daemon.status(origin.url("/a.svg")).key
            let response = try await WebClient(port: program.port)
                .request("GET", "\(program.path)image/\(key)")
            #expect(response.status == 200 && response.text == svg)
            #expect(response.fields["content-type"] == "application/octet-stream")
            #expect(response.fields["content-disposition"] == "attachment")
        }
    }

    @Test func connectionsAreLimitedAndThoseWithoutTheSecretGiveWay() async throws {
        try await withTestScope { scope in
            let place = try await place(in: scope)
            var silent: [WebConnection] = []
            for _ in 0..<65 { silent.append(try WebConnection(port: place.web.port, in: scope)) }
            // The last one has taken the place of the first.
            #expect(try await silent[0].isClosed(within: .patience))
            // All places are taken, and who knows the secret is served.
            for _ in 0..<100 {
                silent.append(try WebConnection(port: place.web.port, in: scope))
                #expect(try await place.get("").status == 200)
            }
            // None of them sends a request.
            for connection in silent {
                #expect(try await connection.isClosed(within: .patience))
            }
            #expect(try await place.get("").status == 200)
        }
    }

    @Test func itListensOnThisMachineOnly() async throws {
        try await withTestScope { scope in
            let place = try await place(in: scope)
            let port = String(place.web.port, radix: 16, uppercase: true)
            let hex = String(repeating: "0", count: 4 - port.count) + port
            let table = try String(
                contentsOfFile: "/proc/\(place.program.process.pid)/net/tcp", encoding: .utf8)
            let listening = table.split(separator: "\n").filter {
                $0.contains(":\(hex) 00000000:0000 0A")
            }
            #expect(listening.count == 1 && listening[0].contains(" 0100007F:\(hex) "))
            let six = try String(
                contentsOfFile: "/proc/\(place.program.process.pid)/net/tcp6", encoding: .utf8)
            #expect(!six.contains(":\(hex) "))
        }
    }
}
