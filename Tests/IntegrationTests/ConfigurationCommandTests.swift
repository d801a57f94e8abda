import Foundation
import Glibc
import TestSupport
import Testing

/// `cached --check-config` and `--print-config`, and starts that a wrong configuration prevents.
@Suite("Configuration commands", .timeLimit(.minutes(5)))
struct ConfigurationCommandTests {
    private func cached(
        _ arguments: String..., environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        try await run(
            BuiltProducts.program("cached"), arguments,
            environment: minimalEnvironment(["HOME": "/nonexistent"]).merging(environment) { $1 })
    }

    @Test func aValidConfigurationIsReportedAndNothingIsStarted() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write("CACHED_DIRECTORY=\(home.file("c"))\n", to: "cached.conf")
            let output = try await cached("--check-config", "--config", file)
            #expect(output.status == .success, "\(output.errorText)")
            #expect(output.text == "the configuration is valid (\(file))\n")
            #expect(try home.names() == ["cached.conf"])
        }
    }

    @Test func theExampleIsValidAsItIs() async throws {
        let example = URL(filePath: #filePath).appending(path: "../../../etc/cached.conf")
        let output = try await cached("--check-config", "--config", example.standardized.path)
        #expect(output.status == .success, "\(output.errorText)")
    }

    @Test func eachSettingIsPrintedWithItsSource() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write("CACHED_ATTEMPTS=7\n", to: "cached.conf")
            let output = try await cached(
                "--print-config", "--config", file, "--max-bytes", "5G",
                environment: ["CACHED_LOG_LEVEL": "debug"])
            #expect(output.status == .success, "\(output.errorText)")
            let lines = output.text.split(separator: "\n").map {
                $0.split(separator: "#", maxSplits: 1).map { $0.split(separator: " ").joined() }
            }
            for expected in [
                ["CACHED_ATTEMPTS=7", "\(file):1"], ["CACHED_MAX_BYTES=5G", "option"],
                ["CACHED_LOG_LEVEL=debug", "environment"], ["CACHED_SOCKET_MODE=600", "default"],
                ["CACHED_DIRECTORY=/nonexistent/.cache/cached", "default"],
            ] {
                #expect(lines.contains(expected), "\(expected) in \(output.text)")
            }
            let json = try await cached(
                "--print-config", "--json", "--config", file, environment: [:])
            let settings = try JSONDecoder().decode(
                [String: [String: String]].self, from: Data(json.text.utf8))
            #expect(settings.count == lines.count)
            #expect(settings["CACHED_ATTEMPTS"] == ["value": "7", "source": "\(file):1"])
        }
    }

    @Test func jsonBelongsToThePrintedSettings() async throws {
        let output = try await cached("--json", "--check-config")
        #expect(output.status == .exited(64), "\(output.errorText)")
    }

    @Test func mistakesAreFoundBeforeTheStart() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = home.file("cached.conf")
            let folder = try home.directory("folder")
            let pem = home.file("missing.pem")
            for (text, said) in [
                ("CACHED_ATTEMPTS=0\n", "\(file):1: CACHED_ATTEMPTS is \"0\""),
                ("\nCACHED_ATEMPTS=1\n", "\(file):2 sets CACHED_ATEMPTS"),
                ("CACHED_ATTEMPTS=1\nCACHED_ATTEMPTS=1\n", "\(file):2 sets CACHED_ATTEMPTS"),
                ("CACHED_CA_FILE=\(pem)\n", "the file cannot be read: No such file"),
                ("CACHED_CA_FILE=\(folder)\n", "the file is not a regular file"),
            ] {
                try home.write(text, to: "cached.conf")
                for arguments in [["--check-config"], ["--socket", home.file("s")]] {
                    let output = try await run(
                        BuiltProducts.program("cached"), arguments + ["--config", file],
                        environment: minimalEnvironment(["HOME": home.path]))
                    #expect(output.status == .exited(78), "\(arguments) \(text)")
                    #expect(output.errorText.contains(said), "\(output.errorText)")
                    #expect(output.errorText.split(separator: "\n").count == 1)
                }
            }
            let output = try await cached("--check-config", "--config", folder)
            #expect(output.status == .exited(78))
            #expect(output.errorText.contains("\(folder) is not a regular file"))
            let bytes: [UInt8] = Array("CACHED_CONTACT=".utf8) + [0xFF, 0x0A]
            try home.write(bytes, to: "cached.conf")
            let unreadable = try await cached("--check-config", "--config", file)
            #expect(unreadable.status == .exited(78))
            #expect(unreadable.errorText.contains("is not plain UTF-8 text (see line 1)"))
        }
    }

    /// Root may read every file.
    @Test(.enabled(if: geteuid() == 0, "only root can become a user without permission to read"))
    func aFileWithoutPermissionToReadIsAnError() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            chmod(home.path, 0o755)
            let file = try home.write("", to: "cached.conf")
            chmod(file, 0o600)
            let program = home.file("cached")
            try await runSuccessfully("cp", [try BuiltProducts.program("cached"), program])
            let output = try await run(
                "setpriv",
                [
                    "--reuid", "65534", "--regid", "65534", "--clear-groups", "--",
                    program, "--check-config", "--config", file,
                ])
            #expect(output.status == .exited(78))
            #expect(output.errorText.contains("\(file) cannot be read: Permission denied"))
        }
    }
}
