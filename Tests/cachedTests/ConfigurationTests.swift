import ArgumentParser
import CacheCore
import CacheValues
import Foundation
import Glibc
import HTTPCaching
import TestSupport
import Testing

@testable import cached

/// The files of the configuration, and where each value comes from.
@Suite("Configuration", .timeLimit(.minutes(5)))
struct ConfigurationTests {
    private func resolve(
        _ arguments: [String], _ environment: [String: String] = ["HOME": "/h"],
        running: Settings? = nil
    ) throws -> Settings {
        try Settings.resolve(DaemonOptions.parse(arguments), environment, running: running)
    }

    private func failure(
        _ arguments: [String], _ environment: [String: String] = ["HOME": "/h"]
    ) throws -> StartFailure {
        try #require(throws: StartFailure.self) { try resolve(arguments, environment) }
    }

    // MARK: Sources

    @Test func aWrongValueNamesTheFileAndTheLine() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write("\n# size\nCACHED_MAX_BYTES=5 gigs\n", to: "cached.conf")
            #expect(
                try failure(["--config", file]).message
                    == "\(file):3: CACHED_MAX_BYTES is \"5 gigs\", not a size like 600kB, 64MiB or 1.5GB"
            )
            // Another source of the same setting makes the mistake of no account.
            #expect(
                try resolve(["--config", file, "--max-bytes", "5G"]).cache.limits.maximumBytes
                    == 5 << 30)
        }
    }

    @Test func aWrongValueElsewhereNamesTheVariableOrTheOption() throws {
        let variable = try failure([], ["HOME": "/h", "CACHED_ATTEMPTS": "x"])
        #expect(
            variable.message
                == "CACHED_ATTEMPTS in the environment is \"x\", not a number above 0")
        let option = try failure(["--attempts", "x"])
        #expect(option.message.hasPrefix("--attempts (CACHED_ATTEMPTS) is \"x\""))
        let empty = try failure(["--directory", ""])
        #expect(empty.exitCode == .configuration)
        #expect(empty.message.contains("--directory is empty"))
    }

    @Test func everyValueKnowsItsSource() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write("CACHED_ATTEMPTS=2\nCACHED_ACCEPT=svg\n", to: "cached.conf")
            try home.directory("cached.conf.d")
            let dropIn = try home.write("CACHED_ACCEPT=any\n", to: "cached.conf.d/a.conf")
            let settings = try resolve(
                ["--config", file, "--max-rate", "2M"], ["HOME": "/h", "CACHED_CONTACT": "me"])
            let values = settings.values
            #expect(values["CACHED_ATTEMPTS"]?.source == .file(path: file, line: 1))
            #expect(values["CACHED_ACCEPT"]?.source == .file(path: dropIn, line: 1))
            #expect(values["CACHED_CONTACT"]?.source == .environment)
            #expect(values["CACHED_MAX_RATE"] == .init(text: "2M", source: .option))
            #expect(values["CACHED_SOCKET_MODE"] == .init(text: "600", source: .builtIn))
            #expect(values["CACHED_PROXY"] == nil)

            let lines = SettingsReport(settings: settings).lines
            #expect(lines.count == Setting.all.count)
            #expect(
                lines.contains { $0.hasPrefix("CACHED_ATTEMPTS=2 ") && $0.hasSuffix("# \(file):1") }
            )
            #expect(
                lines.contains {
                    $0.hasPrefix("CACHED_CONTACT=me ") && $0.hasSuffix("# environment")
                })
            #expect(
                lines.contains { $0.hasPrefix("CACHED_MAX_RATE=2M ") && $0.hasSuffix("# option") })
            #expect(lines.contains { $0.hasPrefix("CACHED_PROXY= ") && $0.hasSuffix("# default") })
            #expect(lines.contains { $0.hasPrefix("CACHED_DIRECTORY=/h/.cache/cached ") })
        }
    }

    @Test func everySettingHasAnOption() throws {
        for setting in Setting.all {
            let options = try DaemonOptions.parse(["--\(setting.option)", "text"])
            #expect(options.values == [setting.name: "text"])
        }
    }

    // MARK: Files

    @Test func aNameThatIsSetTwiceInAFileIsAnError() async throws {
        try await withTestScope { scope in
            let file = try TemporaryDirectory(in: scope).write(
                "CACHED_ATTEMPTS=2\n\nCACHED_ATTEMPTS=3\n", to: "cached.conf")
            let failure = try failure(["--config", file])
            #expect(failure.exitCode == .configuration)
            #expect(failure.message.hasPrefix("\(file):3 sets CACHED_ATTEMPTS, which line 1"))
        }
    }

    @Test func dropInFilesCountInTheOrderOfTheirBytes() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write(
                "CACHED_ATTEMPTS=1\nCACHED_MAX_RATE=1M\nCACHED_ACCEPT=svg\n", to: "my.conf")
            try home.directory("my.conf.d")
            // "Z" comes before "a", and "ä" after all of ASCII.
            try home.write("CACHED_ATTEMPTS=5\n", to: "my.conf.d/ä.conf")
            try home.write("CACHED_ATTEMPTS=3\nCACHED_MAX_RATE=\n", to: "my.conf.d/a.conf")
            try home.write("CACHED_ATTEMPTS=2\nCACHED_MAX_RATE=2M\n", to: "my.conf.d/Z.conf")
            try home.write("CACHED_ATTEMPTS=9\n", to: "my.conf.d/z.conf~")
            try home.write("CACHED_ATTEMPTS=9\n", to: "my.conf.d/.z.conf")
            let settings = try resolve(["--config", file])
            #expect(settings.cache.retry.attempts == 5)
            // An empty value takes back that of an earlier file.
            #expect(settings.cache.transfers.maximumRate == nil)
            #expect(settings.cache.transfers.acceptsSVG)
            #expect(
                settings.files == [file] + ["Z", "a", "ä"].map { "\(file).d/\($0).conf" })
        }
    }

    @Test func dropInFilesNeedNoMainFileInTheUsualPlace() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            try home.directory("cached/cached.conf.d")
            let file = try home.write("CACHED_ATTEMPTS=7\n", to: "cached/cached.conf.d/x.conf")
            let settings = try resolve([], ["HOME": "/h", "XDG_CONFIG_HOME": home.path])
            #expect(settings.cache.retry.attempts == 7)
            #expect(settings.files == [file])
            #expect(settings.headers == home.file("cached/headers.d"))
        }
    }

    @Test func aMistakeInADropInFileNamesItAndItsLine() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write("", to: "cached.conf")
            try home.directory("cached.conf.d")
            let bad = try home.write("CACHED_X=1\n", to: "cached.conf.d/a.conf")
            #expect(try failure(["--config", file]).message.hasPrefix("\(bad):1 sets CACHED_X"))
            try home.directory("cached.conf.d/b.conf")
            #expect(
                try failure(["--config", file]).message
                    .contains("\(file).d/b.conf is not a regular file"))
        }
    }

    /// What takes long to read is refused, with the reason.
    @Test func longFilesAndListsAreRefusedAtOnce() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let long = String(repeating: "# nothing\n", count: 10_000)
            let file = try home.write(long, to: "cached.conf")
            #expect(try failure(["--config", file]).message.contains("is larger than 64 KiB"))
            let names = (0..<1001).map { "user\($0)" }.joined(separator: ",")
            try home.write("CACHED_MANAGERS=\(names)\n", to: "cached.conf")
            #expect(
                try failure(["--config", file]).message.contains("at most 1000 groups and users"))
        }
    }

    @Test func aFolderOfDropInFilesThatIsNoFolderIsAnError() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write("", to: "cached.conf")
            let folder = try home.write("", to: "cached.conf.d")
            let failure = try failure(["--config", file])
            #expect(failure.exitCode == .configuration)
            #expect(failure.message.contains("the configuration folder \(folder) cannot be read"))
        }
    }

    // MARK: Defaults

    /// The texts of the defaults against the values that the parts of the daemon have by themselves.
    @Test func theDefaultsAreThoseOfTheParts() throws {
        let settings = try resolve([], ["HOME": "/h", "XDG_RUNTIME_DIR": "/r"])
        #expect(settings.pressureEvicts == .auto)
        #expect(settings.log == LogSettings())
        #expect(settings.cache.retry == RetryPolicy())
        var transfers = TransferSettings()
        (transfers.userAgent, transfers.hasContact) = (settings.cache.transfers.userAgent, false)
        #expect(String(describing: settings.cache.transfers) == String(describing: transfers))
        #expect(String(describing: settings.cache.limits) == String(describing: Limits()))
    }

    private static var example: URL {
        URL(filePath: #filePath).appending(path: "../../../etc/cached.conf").standardized
    }

    /// With all lines of the example in force, nothing changes.
    @Test func theExampleIsValid() async throws {
        try await withTestScope { scope in
            let text = try String(contentsOf: Self.example, encoding: .utf8)
                .replacing(/(?m)^#(CACHED?_)/) { "\($0.1)" }
            let file = try TemporaryDirectory(in: scope).write(text, to: "cached.conf")
            let usual = try resolve([])
            let example = try resolve(["--config", file])
            #expect(example.values.differences(from: usual.values).isEmpty)
            #expect(
                String(describing: example.cache) == String(describing: usual.cache))
        }
    }

    // MARK: Reloading

    @Test func aReloadKeepsWhatNeedsARestart() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write("CACHED_SOCKET=/a\nCACHED_ATTEMPTS=2\n", to: "cached.conf")
            let first = try resolve(["--config", file])
            try home.write(
                "CACHED_SOCKET=/b\nCACHED_ATTEMPTS=3\nCACHED_SHARED=yes\n", to: "cached.conf")
            let second = try resolve(["--config", file], running: first)
            #expect(second.socket == "/a")
            #expect(!second.cache.transfers.caching.isShared)
            #expect(second.cache.retry.attempts == 3)
            #expect(second.pending == ["CACHED_SOCKET", "CACHED_SHARED"])
            #expect(second.values.differences(from: first.values) == ["CACHED_ATTEMPTS"])
            // It stays pending until the restart, or until it is taken back.
            let third = try resolve(["--config", file], running: second)
            #expect(third.pending == ["CACHED_SOCKET", "CACHED_SHARED"])
            try home.write("CACHED_SOCKET=/a\n", to: "cached.conf")
            #expect(try resolve(["--config", file], running: third).pending == [])
            // A wrong value is an error even if it would not count yet.
            try home.write("CACHED_SOCKET=/a\nCACHED_SOCKET_MODE=9\n", to: "cached.conf")
            #expect(throws: StartFailure.self) {
                try resolve(["--config", file], running: third)
            }
        }
    }
}
