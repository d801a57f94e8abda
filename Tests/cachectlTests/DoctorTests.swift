import CacheWire
import StubDaemon
import Testing

@testable import cachectl

@Suite(.timeLimit(.minutes(5))) struct DoctorTests {
    private static let mounts = #"""
        21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
        22 21 0:5 / /dev rw - devtmpfs udev rw
        30 21 0:40 / /home/ada/with\040blank rw - fuse.sshfs ada@host: rw
        31 21 0:41 / /home/ada rw - nfs4 host:/ada rw
        32 21 0:42 / /var rw - xfs /dev/sdb rw
        33 21 0:43 / /var rw - tmpfs tmpfs rw
        """#

    @Test(arguments: [
        ("/", "ext4"), ("/etc/x", "ext4"), ("/homes", "ext4"), ("/home/ada/.cache", "nfs4"),
        ("/home/ada/with blank/c", "fuse.sshfs"), ("/home/adam", "ext4"), ("/var/cache", "tmpfs"),
    ])
    func theNearestMountHasTheFile(path: String, type: String) {
        let system = FileSystem(of: path, in: Self.mounts)
        #expect(system?.type == type)
        #expect(system?.isShared == ["nfs4", "fuse.sshfs"].contains(type))
        #expect(system?.isInMemory == (type == "tmpfs"))
        #expect(FileSystem(of: path, in: "nonsense\n\n - \n1 2 3 4 5 - \n") == nil)
    }

    @Test func whatIsTakenHasABar() {
        let terminal = TerminalCapabilities(isUnicode: false, colors: .none)
        #expect(Finding.ok("5 GB are free", share: 0.5).bar(terminal).text == "  ######------")
        #expect(Finding.ok("fine").bar(terminal).text.isEmpty)
    }

    private func findings(_ stats: String) throws -> (status: Int32, text: String) {
        let stub = try StubDaemon(replies: [#"{"parameters":{"stats":{\#(stats)}}}"#])
        let outcome = try Program.run(["doctor", "--json", "--socket", stub.path])
        return (outcome.status, outcome.output)
    }

    @Test func anotherVersionIsWrong() throws {
        let outcome = try findings(#""version":"99.0.0","directory":"/nonexistent""#)
        #expect(outcome.status == 1)
        #expect(outcome.text.contains("has version 99.0.0, this program \(Version.current)"))
        #expect(outcome.text.contains("restart the daemon"))
    }

    /// A directory that the daemon has and this user does not see is not one that does not exist yet.
    @Test func missingDirectoryOfARunningDaemonIsWrong() throws {
        let stats = #""version":"\#(Version.current)","directory":"/nonexistent/c""#
        let outcome = try findings(stats)
        #expect(outcome.status == 1)
        #expect(outcome.text.contains("cannot look at /nonexistent/c"))
    }

    @Test(arguments: [(999, 0, false), (1000, 0, true), (5000, 1, false)])
    func aStoreThatNeverHasAnImageIsNoted(questions: Int, hits: Int, isNoted: Bool) throws {
        let stats =
            #""storeLocation":"s3://images","storeState":"ok","storeWriteState":"ok","#
            + #""storeLookups":\#(questions),"storeHits":\#(hits)"#
        let text = try findings(stats).text
        #expect(text.contains("\(questions) questions to the store s3://images") == isNoted)
        #expect(text.contains("the store s3://images is used") != isNoted)
    }

    @Test func foreignTextIsEscaped() throws {
        let directory = #""directory":"/nonexistent\u001b[31m\u202e\u009b""#
        let stub = try StubDaemon(replies: [#"{"parameters":{"stats":{\#(directory)}}}"#])
        for arguments in [[], ["--json"]] {
            let outcome = try Program.run(["doctor", "--socket", stub.path] + arguments)
            #expect(outcome.status == 1)
            #expect(!outcome.output.unicodeScalars.contains { $0.commandsTerminal && $0 != "\n" })
        }
    }

    @Test func everyCheckHasAName() {
        #expect(Set(Check.all.map(\.name)).count == Check.all.count)
        let examination = Examination(
            daemon: .failure(ClientError(.noDaemon, "x")), directory: nil, proxyVariables: [],
            now: 0)
        // Without a daemon and a directory, nothing else is guessed.
        let found = Check.all.flatMap { check in check.examine(examination).map { (check.name, $0) }
        }
        #expect(found.filter { $0.1.level == .wrong }.map(\.0).contains("daemon"))
        #expect(found.allSatisfy { $0.1.level == .ok || $0.1.fix != nil })
    }
}
