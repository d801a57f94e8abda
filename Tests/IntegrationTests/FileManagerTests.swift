import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// "Show in the file manager", with programs in the path that write their arguments down.
@Suite(
    "Gallery and the file manager", .serialized, .timeLimit(.minutes(2)),
    .enabled("needs chromium (`.ci/dependencies browser`) and playwright") {
        try await BrowserDriver.isInstalled()
    })
struct FileManagerTests {
    /// A folder of programs, which is the whole path of the gallery.
    private struct Desktop {
        let folder: TemporaryDirectory

        init(in scope: TestScope) throws {
            folder = try TemporaryDirectory(in: scope)
            symlink("/bin/sh", folder.file("sh"))
        }

        /// Adds a program that notes its arguments, a line each, and ends with a status.
        func add(_ program: String, status: Int) throws {
            let script = """
                #!/bin/sh
                printf '%s\\n' "$@" end > \(folder.file("\(program).arguments"))
                exit \(status)

                """
            chmod(try folder.write(script, to: program), 0o755)
        }

        /// The arguments of a program once it has run.
        func arguments(of program: String) async throws -> [String] {
            let lines = try await eventually("\(program) to be started") {
                let text = try? String(
                    contentsOfFile: folder.file("\(program).arguments"), encoding: .utf8)
                return text?.hasSuffix("end\n") == true ? text : nil
            }.split(separator: "\n").map(String.init)
            return Array(lines.dropLast())
        }
    }

    @Test func theImageIsSelectedElseItsFolderIsOpened() async throws {
        try await withTestScope { scope in
            let desktop = try Desktop(in: scope)
            let home = try TemporaryDirectory(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            var options = DaemonFixture.Options()
            options.directory = home.file("ä, b")
            let daemon = try await DaemonFixture.start(options, in: scope)
            let item = try await daemon.fetch(origin.url("/a.png"))
            let gallery = try await GalleryProgram(
                daemon, environment: ["PATH": desktop.folder.path], in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address)
            try await waitUntil("the picture") {
                try await browser.report().count("picture") == 1
            }
            try await browser.click(".cell")

            // Nothing is installed.
            try await browser.click("[data-action=open]")
            try await waitUntil("the reason") {
                try await browser.report().notice.contains("install xdg-utils")
            }
            // No file manager answers on the bus, so the folder is opened.
            try desktop.add("xdg-open", status: 0)
            try desktop.add("dbus-send", status: 1)
            try await browser.click("[data-action=open]")
            #expect(try await desktop.arguments(of: "xdg-open") == [daemon.directory])
            unlink(desktop.folder.file("xdg-open.arguments"))
            // One answers. The key does the same as the button.
            try desktop.add("dbus-send", status: 0)
            unlink(desktop.folder.file("dbus-send.arguments"))
            try await browser.press("o")
            let message = try await desktop.arguments(of: "dbus-send")
            #expect(message.contains("--dest=org.freedesktop.FileManager1"))
            #expect(message.contains("org.freedesktop.FileManager1.ShowItems"))
            #expect(
                message.contains("array:string:file://\(home.path)/%C3%A4%2C%20b/\(item.key)"))
            #expect(access(desktop.folder.file("xdg-open.arguments"), F_OK) != 0)
            #expect(try await browser.log().errors == [String]())
        }
    }
}
