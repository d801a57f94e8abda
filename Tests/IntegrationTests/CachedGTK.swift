import Foundation
import TestSupport

/// The library `cached-gtk`, built once for all tests, and programs over it on a display of their own. xvfb-run(1).
enum CachedGTK {
    private static let source = Libcached.root + "Tests/IntegrationTests/ThirdParty/"

    /// The Python of the Debian packages; another one may come first in the path.
    static let python = "/usr/bin/python3"

    /// Whether the packages of the group `gtk` are installed.
    static func isInstalled() async throws -> Bool {
        let check = """
            for program in xvfb-run import g-ir-scanner vapigen valac gjs cc; do command -v $program; done &&
            pkg-config --exists gtk4 && exec "$0" -c "import gi; gi.require_version('Gtk', '4.0')"
            """
        return try await run("sh", ["-ec", check, python]).status == .success
    }

    private static let built = Task { () throws -> String in
        let output = try await Libcached.directory() + "/gtk"
        try await build(output, [:])
        return output
    }

    /// The directory with the library, its header and its descriptions for other languages.
    static func directory() async throws -> String { try await built.value }

    private static let driver = Task { () throws -> String in
        let output = try await Libcached.directory() + "/gtk-asan"
        let flags = "-fsanitize=address -O1 -fno-omit-frame-pointer"
        try await build(output, ["CFLAGS": flags, "DESCRIBE": "no"])
        let compile = """
            exec cc $CFLAGS -g -Wall -Wextra -Werror -o "$2/driver" "$1"/cached-gtk-*.c -I "$2" $(pkg-config --cflags --libs gtk4) \
                -L "$2" -lcached-gtk -L "$3" -lcached -lm -Wl,-rpath,"$2:$3"
            """
        try await succeed(
            ["sh", "-c", compile, "sh", source, output, Libcached.directory()], ["CFLAGS": flags])
        return output + "/driver"
    }

    /// The program of `cached-gtk-driver.c` and `cached-gtk-faces.c`, with the library under AddressSanitizer.
    static func sanitizedDriver() async throws -> String { try await driver.value }

    /// Compiles a program in C or Vala.
    static func compile(_ source: String, to program: String) async throws {
        let library = try await directory()
        let libcached = try await Libcached.directory()
        let flags = [
            "-w", "-I\(library)", "-L\(library)", "-lcached-gtk", "-L\(libcached)", "-lcached",
        ]
        if source.hasSuffix(".c") {
            let script = #"exec cc "$0" -o "$1" $(pkg-config --cflags --libs gtk4) "${@:2}""#
            return try await succeed(["bash", "-c", script, source, program] + flags)
        }
        let packages = ["--vapidir", library, "--pkg", "gtk4", "--pkg", "cached-gtk"]
        try await succeed(
            ["valac"] + packages + ["-o", program, source] + flags.flatMap { ["-X", $0] })
    }

    /// The words that start a program on a display.
    static func onDisplay(_ words: [String]) -> [String] {
        ["xvfb-run", "--auto-servernum", "--server-args=-screen 0 880x600x24"] + words
    }

    /// The environment of a program that uses this daemon.
    ///
    /// - Parameters:
    ///   - directory: in place of that of the cache.
    ///   - socket: in place of that of the daemon.
    static func environment(
        _ daemon: DaemonFixture, directory: String? = nil, socket: String? = nil,
        in scope: TestScope
    ) async throws -> [String: String] {
        let temporary = try TemporaryDirectory(in: scope)
        let library = try await self.directory()
        var libraries = try await library + ":" + Libcached.directory()
        if let others = minimalEnvironment()["LD_LIBRARY_PATH"] { libraries += ":" + others }
        return minimalEnvironment([
            "CACHED_SOCKET": socket ?? daemon.socket,
            "CACHED_DIRECTORY": directory ?? daemon.directory,
            "LD_LIBRARY_PATH": libraries, "GI_TYPELIB_PATH": library,
            "HOME": temporary.path, "TMPDIR": temporary.path, "GDK_BACKEND": "x11",
            "GSK_RENDERER": "cairo", "PYTHONDONTWRITEBYTECODE": "1", "GTK_A11Y": "none",
            "DBUS_SESSION_BUS_ADDRESS": "disabled:", "ASAN_OPTIONS": "detect_leaks=0",
        ])
    }

    private static func build(_ output: String, _ variables: [String: String]) async throws {
        let script = Libcached.root + "clients/gtk/build"
        try await succeed([script, output, Libcached.directory()], variables)
    }

    /// Runs a compiler.
    private static func succeed(
        _ words: [String], _ variables: [String: String] = [:]
    ) async throws {
        let result = try await run(
            words[0], Array(words.dropFirst()),
            environment: Libcached.compilers.merging(variables) { $1 }, within: .seconds(300))
        guard result.status == .success else {
            throw TestFailure("\(words[0]): \(result.text)\(result.errorText)")
        }
    }
}
