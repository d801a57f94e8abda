import CacheWire
import Dispatch
import Glibc
import StubDaemon
import Testing

@Suite(.timeLimit(.minutes(5))) struct ClientTests {
    @Test func oneCallGetsOneReply() throws {
        let stub = try StubDaemon(replies: [#"{"parameters":{"stats":{"entries":3}}}"#])
        let client = try Client(paths: [stub.path])
        #expect(try client.call(Methods.Stats.self, .init()).stats == ["entries": 3])
        #expect(try client.call(Methods.Stats.self, .init()).stats == ["entries": 3])
        #expect(stub.calls.count == 2)
        #expect(stub.calls[0].contains(#""method":"io.cached.Cache.Stats""#))
    }

    @Test func streamEndsWithTheLastReply() throws {
        let stub = try StubDaemon(replies: [
            #"{"parameters":{"items":[],"removed":["1"]},"continues":true}"#,
            #"{"parameters":{"items":[],"removed":["2"]},"continues":true}"#,
            #"{"parameters":{"items":[],"removed":["3"]}}"#,
        ])
        var replies = try Client(paths: [stub.path]).stream(Methods.Watch.self, .init())
        var removed: [String] = []
        while let reply = try replies.next() {
            removed += reply.removed
        }
        #expect(removed == ["1", "2", "3"])
        #expect(try replies.isReady(within: 0))
        #expect(stub.calls[0].contains(#""more":true"#))
    }

    @Test func waitingForAReplyIsBounded() throws {
        let stub = try StubDaemon(replies: [])
        let replies = try Client(paths: [stub.path]).stream(Methods.Watch.self, .init())
        #expect(try !replies.isReady(within: 1))
    }

    @Test func messageInManyPiecesIsAssembled() throws {
        let key = String(repeating: "k", count: 3_000_000)
        let stub = try StubDaemon(replies: [
            #"{"parameters":{"items":[],"removed":["\#(key)"]}}"#
        ])
        let client = try Client(paths: [stub.path])
        #expect(try client.call(Methods.Watch.self, .init()).removed == [key])
    }

    @Test func errorOfTheDaemonIsThrown() throws {
        let stub = try StubDaemon(replies: [
            #"{"error":"io.cached.Cache.TooMany","parameters":{"limit":5}}"#
        ])
        let client = try Client(paths: [stub.path])
        let error = #expect(throws: ClientError.self) {
            try client.call(Methods.Stats.self, .init())
        }
        #expect(error?.code == .refused(.tooMany(limit: 5)))
        #expect(error?.message == "the daemon accepts no more than 5 at a time")
    }

    /// As if systemd listened for a daemon that cannot start.
    @Test(arguments: [false, true])
    func aDaemonThatAnswersNothingIsGivenUp(isStream: Bool) throws {
        let stub = try StubDaemon(replies: [])
        let client = try Client(paths: [stub.path])
        let error = #expect(throws: ClientError.self) {
            guard isStream else { return _ = try client.call(Methods.Stats.self, .init()) }
            let replies = try client.stream(Methods.Watch.self, .init())
            while try !replies.isReady(within: 100) {}
        }
        #expect(error?.code == .noDaemon)
        #expect(error?.message.contains("systemctl status cached") == true)
    }

    /// The reply comes after the client has asked whether there is a daemon.
    @Test func aLongCallIsNotGivenUp() throws {
        let wasAsked = DispatchSemaphore(value: 0)
        let stub = try StubDaemon { call in
            if call.contains("GetInfo") {
                wasAsked.signal()
                return ["{}"]
            }
            wasAsked.wait()
            return [#"{"parameters":{"stats":{"entries":3}}}"#]
        }
        let client = try Client(paths: [stub.path])
        #expect(try client.call(Methods.Stats.self, .init()).stats == ["entries": 3])
        #expect(stub.calls.count == 2)
    }

    @Test func hangingUpBeforeTheReplyIsAnError() throws {
        let stub = try StubDaemon { _ in nil }
        let client = try Client(paths: [stub.path])
        let error = #expect(throws: ClientError.self) {
            try client.call(Methods.Stats.self, .init())
        }
        #expect(error?.code == .disconnected)
    }

    @Test(arguments: ["{", "[]", #"{"parameters":{"stats":7}}"#, "{}"])
    func invalidReplyIsAnError(reply: String) throws {
        let stub = try StubDaemon(replies: [reply])
        let client = try Client(paths: [stub.path])
        let error = #expect(throws: ClientError.self) {
            try client.call(Methods.Stats.self, .init())
        }
        #expect(error?.code == .invalidReply)
    }

    @Test func callOverTheLimitIsNotSent() throws {
        let stub = try StubDaemon(replies: [])
        let client = try Client(paths: [stub.path])
        let url = String(repeating: "u", count: Message.maximumLength)
        let error = #expect(throws: ClientError.self) {
            try client.call(Methods.Status.self, .init(urls: [url]))
        }
        #expect(error?.code == .messageTooLarge)
        #expect(stub.calls.isEmpty)
    }

    @Test func secondSocketIsTriedIfTheFirstDoesNotAnswer() throws {
        let stub = try StubDaemon(replies: [])
        let client = try Client(paths: ["/nowhere/cached.sock", stub.path])
        #expect(client.path == stub.path)
    }

    @Test func missingDaemonErrorNamesTheSocketsAndTheRemedy() {
        let error = #expect(throws: ClientError.self) {
            try Client(paths: ["/nowhere/1.sock", "/nowhere/2.sock"])
        }
        #expect(error?.code == .noDaemon)
        #expect(error?.cause == ENOENT)
        #expect(
            error?.message == "no daemon answers at /nowhere/1.sock or /nowhere/2.sock: "
                + "start it with `cached`, or name another socket with --socket")
    }

    @Test func socketPathHasAtMost107Bytes() {
        let fits = "/" + String(repeating: "p", count: 106)
        #expect(throws: ClientError.self) { try Client(paths: [fits]) }
        let error = #expect(throws: ClientError.self) { try Client(paths: [fits + "p"]) }
        #expect(error?.code == .pathTooLong)
        #expect(error?.message.contains("has 108 bytes, but the system permits 107") == true)
    }
}
