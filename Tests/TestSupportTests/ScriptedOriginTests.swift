import TestSupport
import Testing

@Suite("Scripted origin", .timeLimit(.minutes(5)))
struct ScriptedOriginTests {
    let image = SampleImage.png(byteCount: 20_000)

    @Test func answersAndRecordsRequests() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(headers: ["ETag": "\"x\""], body: image))
            let output = try await curl("-i", "-A", "tester", origin.url("/a.png?size=1"))
            #expect(output.status == .success)
            #expect(output.text.contains("ETag: \"x\""))
            #expect(Array(output.standardOutput.suffix(image.count)) == image)
            let requests = origin.requests("/a.png")
            #expect(requests.count == 1)
            #expect(requests.first?.method == "GET")
            #expect(requests.first?.target == "/a.png?size=1")
            #expect(requests.first?.headers["user-agent"] == "tester")
            #expect(requests.first?.headers.names == ["host", "user-agent", "accept"])
            try await origin.waitForOutcome(.answered, of: "/a.png")
        }
    }

    @Test func reusesAConnectionForSeveralRequests() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: image))
            let url = origin.url("/a.png")
            let output = try await curl("-o", "/dev/null", url, "-o", "/dev/null", url)
            #expect(output.status == .success)
            #expect(origin.requests().count == 2)
            #expect(origin.connectionsAccepted == 1)
        }
    }

    @Test func headEndsAfterTheHeaders() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: image))
            let output = try await curl("-I", origin.url("/a.png"))
            #expect(output.status == .success)
            #expect(output.text.contains("Content-Length: 20000"))
        }
    }

    @Test func waitsAtAGateUntilItOpens() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(image, after: 100, gate))
            let client = try ChildProcess("curl", ["-sSN", origin.url("/a.png")], in: scope)
            try await gate.reached()
            #expect(client.exitStatus == nil)
            #expect(origin.requests("/a.png").map(\.outcome) == [.answering])
            gate.open()
            #expect(try await client.waitForExit() == .success)
            #expect(client.bytes(.standardOutput) == image)
        }
    }

    @Test func noticesAClientThatDisconnectsAtAGate() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(image, after: 100, gate))
            let client = try ChildProcess("curl", ["-sS", origin.url("/a.png")], in: scope)
            try await gate.reached()
            try await client.kill()
            try await origin.waitForOutcome(.abandoned, of: "/a.png")
        }
    }

    @Test(arguments: [false, true])
    func cutsAfterTheGivenBytes(byReset: Bool) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .cut(image, after: 1000, byReset: byReset))
            let output = try await curl(origin.url("/a.png"))
            // CURLE_PARTIAL_FILE, CURLE_RECV_ERROR
            #expect(output.status == .exited(byReset ? 56 : 18))
            if !byReset { #expect(output.standardOutput == Array(image[..<1000])) }
        }
    }

    @Test func sendsChunksWithAndWithoutTheLast() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/whole.png", .chunked(image, by: 999))
            origin.route("/cut.png", .chunked(image, by: 999, ended: false))
            let whole = try await curl(origin.url("/whole.png"))
            #expect(whole.status == .success)
            #expect(whole.standardOutput == image)
            #expect(try await curl(origin.url("/cut.png")).status == .exited(18))
        }
    }

    @Test func endsABodyByClosing() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .closeDelimited(image))
            let output = try await curl(origin.url("/a.png"))
            #expect(output.status == .success)
            #expect(output.standardOutput == image)
        }
    }

    @Test func sendsWithoutEndUntilTheClientLeaves() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .endless(image))
            let output = try await run(
                "sh", ["-c", "curl -sS '\(origin.url("/a.png"))' | head -c 3000000 | wc -c"])
            #expect(output.text == "3000000\n")
            try await origin.waitForOutcome(.abandoned, of: "/a.png")
        }
    }

    @Test func tricklesAtTheGivenPace() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .trickled(image, bytesPerSecond: 40_000))
            let start = ContinuousClock.now
            let output = try await curl(origin.url("/a.png"))
            #expect(output.standardOutput == image)
            #expect(ContinuousClock.now - start > .milliseconds(400))
        }
    }

    @Test func redirectsAndAnswersRanges() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/old.png", .redirect(to: "/new.png"))
            origin.route("/new.png") { [image] in .ranged(image, for: $0) }
            let rest = try await curl("-L", "-r", "500-", origin.url("/old.png"))
            #expect(rest.standardOutput == Array(image[500...]))
            let past = try await curl("-i", "-r", "30000-", origin.url("/new.png"))
            #expect(past.text.hasPrefix("HTTP/1.1 416"))
        }
    }

    @Test func answersUnknownPathsWithNotFound() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let output = try await curl("-o", "/dev/null", "-w", "%{http_code}", origin.url("/no"))
            #expect(output.text == "404")
        }
    }

    @Test func aTimeoutNamesTheAwaitedEvent() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let error = await #expect(throws: TestFailure.self) {
                try await origin.waitForRequest("/never", within: .milliseconds(10))
            }
            #expect(error?.description.contains("request 1 for /never") == true)
        }
    }

    private func curl(_ arguments: String...) async throws -> ProcessOutput {
        try await run("curl", ["-sS", "--max-time", "20"] + arguments)
    }
}
