import CTestSupport
import CacheWire
import ClientCore
import Glibc
import StubDaemon
import TestSupport
import Testing

/// Clients at a socket whose server is not the daemon they expect.
@Suite("Sockets of a daemon", .timeLimit(.minutes(5)))
struct DaemonSocketTests {
    private static let url = "http://a.example/a.png"
    private static let name = "df150ea2-346e-516e-a71e-edab7a7d28ef"
    private static let cached =
        #"{"parameters":{"item":{"url":"\#(url)","key":"\#(name)","state":"cached","path":"/\#(name)"}}}"#

    /// Opens the image with both clients. Each gets a descriptor, or `nil` if it refused what the daemon sent.
    private func open(_ stub: StubDaemon) throws -> [Int32?] {
        let handed = SingleCall.open(
            Array(Self.url.utf8), DaemonPlace(sockets: [Array(stub.path.utf8)]))
        #expect(handed >= 0 || handed == -EBADMSG)
        let mine = handed < 0 ? nil : handed
        do throws(ClientError) {
            return [mine, try Client(paths: [stub.path]).open(Self.url).descriptor]
        } catch {
            #expect(error.code == .invalidReply && error.message.contains("no regular file"))
            return [mine, nil]
        }
    }

    /// Every descriptor too many is closed: the reader of a pipe sees its end only then.
    @Test(arguments: [1, 2, 5])
    func aDescriptorTooManyIsClosed(count: Int) throws {
        var ends: [Int32] = [-1, -1]
        #expect(ctest_pipe(&ends) == 0)
        let memory = ctest_memory_file()
        let file = Glibc.open("/proc/self/fd/\(memory)", O_RDONLY | O_CLOEXEC)
        close(memory)
        let files: [Int32?]
        do {
            let stub = try StubDaemon(
                replies: [Self.cached], with: [file] + Array(repeating: ends[1], count: count))
            files = try open(stub)
        }
        close(ends[1])
        for case let received? in files {
            var (mine, theirs) = (stat(), stat())
            #expect(fstat(received, &theirs) == 0 && fstat(file, &mine) == 0)
            #expect(mine.st_ino == theirs.st_ino)
            close(received)
        }
        #expect(files.count == 2 && files.allSatisfy { $0 != nil })
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 0)
        close(ends[0])
        close(file)
    }

    @Test(arguments: ["/", "/dev/zero"])
    func onlyARegularFileIsTaken(path: String) throws {
        let strange = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        defer { close(strange) }
        #expect(try open(try StubDaemon(replies: [Self.cached], with: [strange])) == [nil, nil])
    }

    /// A program would change the file of others.
    @Test func aFileThatIsOpenForWritingIsNotTaken() throws {
        let strange = ctest_memory_file()
        defer { close(strange) }
        #expect(try open(try StubDaemon(replies: [Self.cached], with: [strange])) == [nil, nil])
    }

    /// The next socket may be another daemon's, with other images.
    @Test func aBusyDaemonIsNotTakenForNone() throws {
        let other = try StubDaemon(replies: [])
        let busy = try BusyDaemon()
        let place = DaemonPlace(sockets: [busy.path, other.path].map { Array($0.utf8) })
        let session = Session(place)
        session.want([(Array(Self.url.utf8), .normal)])
        let message = Array("question".utf8)
        guard var exchange = Exchange(message, place) else {
            Issue.record("a busy daemon is taken for none")
            return
        }
        let isWaiting = exchange.step() == nil && exchange.timeLeft <= 20
        // The next attempts succeed, one after the other.
        busy.dismiss()
        let isConnected = exchange.step() == nil && exchange.timeLeft > 20
        #expect(isWaiting && isConnected && busy.dismiss() == "question")
        var entry = pollfd(fd: session.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&entry, 1, 10_000) == 1)
        #expect(session.next { _, _ in true } == nil)
        #expect(busy.dismiss().contains("io.cached.Cache.Fetch"))
        #expect(other.calls.isEmpty)
    }
}
