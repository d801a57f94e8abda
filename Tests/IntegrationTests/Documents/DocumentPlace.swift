import CacheKey
import CacheWire
import Foundation
import TestSupport
import Testing

/// The place in which the code of a document runs: a home directory with a daemon and a cache at the usual paths.
///
/// `https://example.com` is an origin that has `a.png` to `d.png`, `logo.png`, `a.jpg` and `cover-1.png` to `cover-10.png`, and
/// answers others with 404.
/// `https://www.debian.org/logos` and `http://localhost:8731` are the same one, which sends `elephants.jpg` slowly.
struct DocumentPlace {
    private let origin: ScriptedOrigin
    let home: TemporaryDirectory
    let daemon: DaemonFixture?
    let settings: [String: String]
    let scope: TestScope

    static let pythonWithVarlink = ProcessInfo.processInfo.environment["CACHED_TEST_PYTHON"]

    init(for block: MarkdownBlock, in scope: TestScope) async throws {
        self.scope = scope
        settings = block.settings
        origin = try ScriptedOrigin(in: scope)
        let logo = "openlogo-nd-100.png"
        let covers = (1...10).map { "cover-\($0).png" }
        for name in ["a.png", "b.png", "c.png", "d.png", "logo.png", "a.jpg", logo] + covers {
            let image = SampleImage.png(width: 64, height: 48, byteCount: 5000)
            let age = name == "a.jpg" ? 0 : 600
            origin.route(
                "/\(name)", .answer(headers: ["Cache-Control": "max-age=\(age)"], body: image))
        }
        origin.route(
            "/elephants.jpg",
            .trickled(
                SampleImage.png(byteCount: 500_000), bytesPerSecond: 400_000,
                headers: [
                    "ETag": #""6b012ffe""#, "Last-Modified": "Sat, 21 Nov 2026 05:45:34 GMT",
                ]))
        home = try TemporaryDirectory(in: scope)
        _ = try home.directory("Pictures")
        let files = (try home.directory(".cache") + "/cached", try home.directory("run/cached"))
        guard settings["alone"] == nil || settings["cached"] != nil else {
            daemon = nil
            return
        }
        var options = DaemonFixture.Options()
        options.directory = files.0
        options.socket = files.1 + "/cached.sock"
        options.environment["MEMORY_PRESSURE_WATCH"] = try FIFO(in: scope).path
        daemon = try await DaemonFixture.start(options, in: scope)
        try await prepare()
        if settings["alone"] != nil { try await daemon?.stop() }
    }

    /// Fills the cache as the block wants it.
    private func prepare() async throws {
        if settings["cached"] != nil {
            for name in ["a.png", "a.jpg", "logo.png"] {
                _ = try await daemon?.fetch(origin.url("/" + name))
            }
        }
        if settings["elephants"] != nil {
            _ = try await daemon?.fetch(origin.url("/elephants.jpg"))
        }
        if settings["damaged"] != nil {
            let item = try await daemon?.fetch(origin.url("/a.png"))
            let path = try #require(item?.path)
            let file = try FileHandle(forWritingTo: URL(filePath: path))
            try file.seek(toOffset: 4000)
            try file.write(contentsOf: [0xAA, 0x55])
        }
    }

    /// Runs a block and everything that it starts to its end.
    func run(_ block: MarkdownBlock) async throws -> ProcessOutput {
        let words = try await program(block.language, placed(block.text))
        return try await TestSupport.run(
            words[0], Array(words.dropFirst()), environment: try environment())
    }

    /// Calls the daemon with a message, as it is printed.
    func call(_ text: String) async throws {
        let connection = try #require(daemon).connect()
        let introduction = #"{"method":"org.varlink.service.GetInfo"}"#
        try await connection.send(placed(text) + "\0" + introduction + "\0")
        var reply = try AnyReply(try await connection.receiveText())
        while reply.parameters?.product == nil {
            #expect(reply.error == nil)
            reply = try AnyReply(try await connection.receiveText())
        }
    }

    /// The text with the names of this place.
    func placed(_ text: String) -> String {
        text.replacing("https://example.com", with: origin.url(""))
            .replacing("https://www.debian.org/logos", with: origin.url(""))
            .replacing("http://localhost:8731", with: origin.url(""))
            .replacing("/run/user/1000", with: home.file("run"))
            .replacing(
                "64ae7d25-968a-53ee-bd6c-4b6d330d180a",
                with: (try? CacheKey(CacheURL(origin.url("/elephants.jpg"))).description) ?? "")
    }

    func environment() throws -> [String: String] {
        var environment = minimalEnvironment([
            "HOME": home.path, "XDG_RUNTIME_DIR": home.file("run"),
            "PYTHONPATH": Libcached.root + "clients/python", "PYTHONDONTWRITEBYTECODE": "1",
            "MEMORY_PRESSURE_WATCH": "/dev/null", "CACHED_ALLOW_NETWORK": "127.0.0.0/8",
        ])
        var folders = [try BuiltProducts.directory(), environment["PATH", default: ""]]
        if settings["varlink"] != nil, let python = Self.pythonWithVarlink {
            folders.insert(URL(filePath: python).deletingLastPathComponent().path, at: 0)
        }
        folders.insert(try standIns(), at: 0)
        environment["PATH"] = folders.joined(separator: ":")
        return environment
    }
}

extension DocumentPlace {
    /// Writes a block to a file, and returns the words that run it.
    private func program(_ language: String, _ text: String) async throws -> [String] {
        switch language {
        case "c":
            let source = try home.write(Self.whole(text), to: "block.c")
            return [try await Libcached.compile("cc", source, to: home.file("block"))]
        case "cpp":
            let source = try home.write(text, to: "block.cpp")
            let program = home.file("block")
            return [try await Libcached.compile("c++", source, to: program, Libcached.cxx20)]
        case "rust":
            let source = try home.write(text, to: "block.rs")
            return [try await Libcached.compileRust(source, to: home.file("block"))]
        case "js":
            try FileManager.default.createSymbolicLink(
                atPath: try home.directory("node_modules") + "/cached-client",
                withDestinationPath: Libcached.root + "clients/javascript")
            return ["node", try home.write(text, to: "block.mjs")]
        case "swift":
            let source = try home.write(text, to: "main.swift")
            return [try await Self.compileSwift(source, to: home.file("block"))]
        case "python":
            let python = settings["varlink"] == nil ? nil : Self.pythonWithVarlink
            return [python ?? "python3", try home.write(text, to: "block.py")]
        case "console": return try shell(ConsoleScript(text).text)
        default: return try shell(text)
        }
    }

    /// The inside of a C function, after the `#include` lines, is a program too.
    private static func whole(_ text: String) -> String {
        guard !text.contains("int main") else { return text }
        let lines = text.split(separator: "\n")
        let includes = lines.filter { $0.hasPrefix("#include") }
        let body = lines.filter { !$0.hasPrefix("#include") }
        return (includes + ["int main(void) {"] + body + ["return 0;", "}"])
            .joined(separator: "\n") + "\n"
    }

    /// Compiles a program with the Swift library of this build.
    private static func compileSwift(_ source: String, to program: String) async throws -> String {
        let build = try BuiltProducts.directory()
        let objects = try ["CachedClient", "ClientCore", "MediaTypes", "CClient"].flatMap {
            target in
            try FileManager.default.subpathsOfDirectory(atPath: "\(build)/\(target).build")
                .filter { $0.hasSuffix(".o") }.map { "\(build)/\(target).build/\($0)" }
        }
        let output = try await TestSupport.run(
            "swiftc",
            [
                source, "-I", build + "/Modules", "-I", Libcached.root + "Sources/CClient/include",
                "-o", program,
            ] + objects, environment: Libcached.compilers)
        try #require(output.status == .success, "\(output.errorText)")
        return program
    }
}
