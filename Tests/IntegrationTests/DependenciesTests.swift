import Foundation
import TestSupport
import Testing

/// `.ci/dependencies`, which installs what a target of the Makefile needs, on a system that is played by other programs.
@Suite("Dependencies", .timeLimit(.minutes(2)))
struct DependenciesTests {
    /// A system of Debian where nothing is installed, as it appears to the script: a folder that is the whole path.
    private struct System {
        private let folder: TemporaryDirectory

        /// - Parameters:
        ///   - user: the number of the user who runs the script.
        ///   - sudo: whether `sudo -n` works; `nil` if there is no sudo.
        init(user: Int, sudo: Bool? = nil, in scope: TestScope) throws {
            folder = try TemporaryDirectory(in: scope)
            for tool in ["cat", "dirname", "grep", "mktemp", "rm", "tail", "touch"] {
                let path = "/usr/bin/" + tool
                let real = access(path, X_OK) == 0 ? path : "/bin/" + tool
                #expect(symlink(real, folder.file(tool)) == 0)
            }
            try add("id", "echo \(user)")
            try add("sleep", "exit 0")
            try add("dpkg-query", "[ -e \(folder.file("installed")) ] && echo installed")
            try add("apt-cache", "exit 0")
            try add("apt-get", "exit 1 # only root may")
            try add("swift", "[ -e \(folder.file("installed")) ] || exit 127")
            // Both write down what they are given, and play apt-get.
            let play = """
                printf '%s\\n' "$*" >>\(folder.file("log"))
                case "$*" in
                *' update '*)
                    if [ -e \(folder.file("locked")) ]; then
                        rm \(folder.file("locked"))
                        echo 'E: Could not get lock /var/lib/apt/lists/lock' >&2
                        exit 100
                    fi ;;
                *' install '*) touch \(folder.file("installed")) ;;
                'tee '*|'env tee '*|'-n env tee '*) cat >/dev/null ;;
                esac
                """
            try add("env", play)
            guard let sudo else { return }
            try add("sudo", "[ \"$*\" = '-n true' ] && exit \(sudo ? 0 : 1)\n" + play)
        }

        func add(_ name: String, _ lines: String) throws {
            chmod(try folder.write("#!/bin/sh\n\(lines)\n", to: name), 0o755)
        }

        func lock() throws { try folder.write("", to: "locked") }

        /// The commands that root was asked to run.
        var log: [String] {
            let text = try? String(contentsOfFile: folder.file("log"), encoding: .utf8)
            return (text ?? "").split(separator: "\n").map(String.init)
        }

        /// The packages that were installed, and how: as root by `env`, or by which form of sudo.
        var installation: (by: String, packages: [String])? {
            guard let line = log.first(where: { $0.contains(" install ") }) else { return nil }
            let parts = line.components(separatedBy: " --no-install-recommends ")
            let by = line.prefix { $0 != "=" }.split(separator: " ").dropLast()
            return (
                by.joined(separator: " "),
                parts.dropFirst().joined().split(separator: " ").map(String.init)
            )
        }

        private static let script = Libcached.root + ".ci/dependencies"

        func run(_ groups: String...) async throws -> ProcessOutput {
            try await TestSupport.run(Self.script, groups, environment: ["PATH": folder.path])
        }

        /// Runs the script at a terminal, where a person types. script(1)
        func type(_ answer: String, _ groups: String...) async throws -> ProcessOutput {
            let words = [Self.script] + groups
            return try await TestSupport.run(
                "script",
                [
                    "-qec",
                    "/usr/bin/env -i PATH=\(folder.path) \(words.joined(separator: " "))",
                    "/dev/null",
                ], input: Array(answer.utf8))
        }
    }

    private static func questions(_ output: ProcessOutput) -> Int {
        output.text.components(separatedBy: "[Y/n]").count - 1
    }

    // MARK: Root

    @Test func rootInstallsAtOnceAndSaysWhat() async throws {
        try await withTestScope { scope in
            for atTerminal in [false, true] {
                let system = try System(user: 0, in: scope)
                let output =
                    atTerminal
                    ? try await system.type("n\n", "build") : try await system.run("build")
                #expect(output.status == .success, "\(output.text)\n\(output.errorText)")
                #expect(Self.questions(output) == 0)
                #expect(output.text.contains("Installing libncurses6 "))
                let installation = try #require(system.installation)
                #expect(installation.by == "")
                #expect(installation.packages.contains("g++"))
                #expect(installation.packages.contains("libcurl4-openssl-dev"))
                #expect(installation.packages.contains("git"))
            }
        }
    }

    @Test func anotherAptIsWaitedFor() async throws {
        try await withTestScope { scope in
            let system = try System(user: 0, in: scope)
            try system.lock()
            let output = try await system.run("demo")
            #expect(output.status == .success, "\(output.text)\n\(output.errorText)")
            #expect(output.text.contains("Waiting for another apt-get"))
            #expect(system.log.count { $0.contains(" update ") } == 2)
            let line = try #require(system.log.first { $0.contains(" install ") })
            #expect(line.contains("-o DPkg::Lock::Timeout=600"))
        }
    }

    // MARK: Users

    @Test func withoutATerminalSudoWithoutAPasswordInstallsAtOnce() async throws {
        try await withTestScope { scope in
            let system = try System(user: 1000, sudo: true, in: scope)
            let output = try await system.run("build", "demo")
            #expect(output.status == .success, "\(output.text)\n\(output.errorText)")
            #expect(system.installation?.by == "-n env")
            #expect(system.installation?.packages.contains("mate-backgrounds") == true)
        }
    }

    @Test(arguments: [false, nil])
    func withoutATerminalAndRightsTheCommandIsPrinted(sudo: Bool?) async throws {
        try await withTestScope { scope in
            let system = try System(user: 1000, sudo: sudo, in: scope)
            let output = try await system.run("demo")
            #expect(output.status == .exited(1))
            #expect(system.log == [])
            #expect(
                output.errorText.contains(
                    "sudo apt-get update && sudo apt-get install -y --no-install-recommends nginx"))
            #expect(output.errorText.contains(sudo == nil ? "only root" : "needs a password"))
        }
    }

    @Test(arguments: ["\n", "y\n", "Yes\n"])
    func atATerminalAUserIsAskedOnceForEverything(answer: String) async throws {
        try await withTestScope { scope in
            let system = try System(user: 1000, sudo: false, in: scope)
            let output = try await system.type(answer, "build", "demo")
            #expect(output.status == .success, "\(output.text)")
            #expect(Self.questions(output) == 1)
            #expect(system.installation?.by == "env")
            #expect(system.installation?.packages.contains("g++") == true)
            #expect(system.installation?.packages.contains("mate-backgrounds") == true)
            // Now nothing is missing.
            let again = try await system.type("", "build", "demo")
            #expect(again.status == .success)
            #expect(again.text == "")
        }
    }

    @Test(arguments: ["n\n", "what\n", ""])
    func aUserWhoRefusesGetsTheCommand(answer: String) async throws {
        try await withTestScope { scope in
            let system = try System(user: 1000, sudo: true, in: scope)
            let output = try await system.type(answer, "demo")
            #expect(output.status == .exited(1))
            #expect(Self.questions(output) == 1)
            #expect(output.text.contains("Nothing was installed. Run:"))
            #expect(system.log == [])
        }
    }

    // MARK: Swift

    @Test(arguments: ["--version", "package"])
    func swiftThatStillDoesNotWorkIsReported(word: String) async throws {
        try await withTestScope { scope in
            let system = try System(user: 0, in: scope)
            try system.add(
                "swift",
                "[ $1 != \(word) ] || { echo 'libodd.so.1: cannot open shared object file'; exit 127; }"
            )
            let output = try await system.run("build")
            #expect(output.status == .exited(1))
            #expect(system.installation != nil)
            #expect(output.errorText.contains("swift does not work"))
            #expect(output.errorText.contains("libodd.so.1"))
        }
    }

    // MARK: Targets

    /// Each target names all its groups in its first call, because a user at a terminal is asked in each.
    @Test func aTargetAsksOnce() async throws {
        let help = try await runSuccessfully("make", ["-C", Libcached.root, "help"])
        let targets = help.split(separator: "\n").compactMap { $0.split(separator: " ").first }
            .filter { !$0.hasPrefix("make") }
        #expect(targets.contains("package-test"))
        var calls = 0
        for target in targets {
            let lines = try await runSuccessfully(
                "make", ["-C", Libcached.root, "-n", String(target)])
            let groups = lines.split(separator: "\n").compactMap { line in
                line.firstRange(of: ".ci/dependencies").map { range in
                    Set(line[range.upperBound...].split(separator: " "))
                }
            }
            calls += groups.count
            guard let first = groups.first else { continue }
            #expect(groups.allSatisfy { $0.isSubset(of: first) }, "\(target): \(groups)")
        }
        #expect(calls > 30)
    }
}
