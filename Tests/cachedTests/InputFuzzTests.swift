import ArgumentParser
import CacheWire
import Foundation
import TestSupport
import Testing

@testable import cached

/// The daemon with damaged input: calls and the configuration file.
@Suite("Input, damaged", .timeLimit(.minutes(isLongForm ? 30 : 10)))
struct InputFuzzTests {
    private static let count = isLongForm ? 1_000_000 : 5000

    private let fuzzer = CallFuzzer(
        InterfaceDescription.cache, urls: ["http://a.example/a.png", "http://b.example/"])

    /// If the scanner accepts a message, the decoder reads the same from it.
    @Test func theScannerFindsWhatTheDecoderFinds() throws {
        var random = SeededGenerator(seed: testSeed)
        var found = 0
        for _ in 0..<Self.count {
            let bytes = status(&random)
            let urls = bytes.withUnsafeBytes { message in
                PlainCall(message).flatMap { call in
                    call.method == .status ? call.texts(in: message).map { Array($0) } : nil
                }
            }
            guard let urls else { continue }
            found += 1
            let text = String(decoding: bytes, as: UTF8.self)
            let call = try Message.decode(Call<Methods.Status.Parameters>.self, from: bytes)
            #expect(call.method == MethodName.status.rawValue, "seed \(testSeed): \(text)")
            #expect(call.oneway == nil && call.more == nil && call.parameters?.details == nil)
            #expect(
                call.parameters?.urls.map { Array($0.utf8) } == urls, "seed \(testSeed): \(text)")
        }
        #expect(found > Self.count / 100)
    }

    /// A call, which is a `Status` in most cases, and damaged in most.
    private func status(_ random: inout SeededGenerator) -> [UInt8] {
        guard !random.oneIn(10) else { return fuzzer.oddCall(using: &random) }
        let urls = (0..<Int.random(in: 0...3, using: &random)).map {
            JSONTree.text("http://a/\($0)")
        }
        var tree = JSONTree.object([
            ("method", .text("io.cached.Cache.Status")),
            ("parameters", .object([("urls", .array(urls))])),
        ])
        if random.oneIn(3) { random.damage(&tree, keepsJSON: random.oneIn(2)) }
        var bytes = tree.bytes
        if random.oneIn(3) { random.damage(&bytes) }
        return bytes
    }

    /// The daemon never crashes on a damaged file, and its error names the file or the setting.
    @Test func aDamagedConfigurationFileIsUsedOrRefusedByName() async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope)
            let options = try DaemonOptions.parse(["--config", directory.file("cached.conf")])
            var random = SeededGenerator(seed: testSeed)
            for _ in 0..<(Self.count / 20) {
                var bytes = Array(Self.lines.shuffled(using: &random).joined(separator: "\n").utf8)
                while !random.oneIn(3) { random.damage(&bytes) }
                let file = try directory.write(bytes, to: "cached.conf")
                do {
                    _ = try Settings.resolve(options, ["HOME": "/h"])
                } catch let failure as StartFailure {
                    #expect(failure.exitCode == .configuration, "seed \(testSeed): \(bytes)")
                    #expect(failure.message.contains("CACHED_") || failure.message.contains(file))
                }
            }
        }
    }

    private static let lines = [
        "CACHED_MAX_BYTES=10GiB", "# comment", "", "  CACHED_ACCEPT=svg,any",
        "CACHED_SHARED=\"yes\"",
        "CACHED_STORE_TIMEOUT=300ms", "CACHED_ATTEMPTS='4'", "; comment",
        "CACHED_MAX_RATE=9223372036854775807", "CACHED_DEFAULT_FRESHNESS=9223372036854775807ms",
        "CACHED_ALLOW_NETWORK=10.0.0.0/8,::1/128,fe80::/10", "CACHED_PRESSURE_EVICTS=auto",
    ]
}
