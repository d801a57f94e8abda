import CacheWire
import Testing

@Suite struct MessageTests {
    @Test func absentOptionalsAreOmitted() throws {
        let item = Item(url: "https://example.com/a/b", key: "k", state: .missing)
        let json = String(decoding: Message.json(item), as: UTF8.self)
        #expect(json.contains(#""url":"https://example.com/a/b""#))
        #expect(!json.contains("null") && !json.contains("path") && !json.contains("failure"))
    }

    @Test func nullMeansAbsent() throws {
        let json = #"{"method":"io.cached.Cache.List","parameters":{"order":null,"limit":null}}"#
        let call = try Message.decode(Call<Methods.List.Parameters>.self, from: json.utf8)
        #expect(call.parameters == Methods.List.Parameters())
    }

    @Test func headerIsDecodedWithoutTheParameters() throws {
        let json = #"{"method":"a.b.C","more":true,"parameters":{"anything":[1,{"x":null}]}}"#
        let header = try Message.decode(CallHeader.self, from: json.utf8)
        #expect(header == CallHeader(method: "a.b.C", more: true))
    }

    @Test func messageEndsWithOneNUL() throws {
        let message = Message.encode(Call(.stats, parameters: Methods.Stats.Parameters()))
        #expect(message.last == 0)
        #expect(message.count { $0 == 0 } == 1)
    }

    @Test func replyCarriesParametersOrError() throws {
        let reply = Reply(Methods.Evict.Reply(entries: 1, bytes: 2), continues: true)
        #expect(try Message.decode(from: Message.json(reply)) == reply)
        let refusal = Reply<Methods.Evict.Reply>(error: .tooMany(limit: 7))
        #expect(try Message.decode(from: Message.json(refusal)) == refusal)
    }

    @Test func unknownErrorKeepsItsName() throws {
        let json = #"{"error":"io.cached.Cache.Later","parameters":{"limit":"x"}}"#
        let text = #"{"error":"io.cached.Cache.Later"}"#
        let reply = try Message.decode(Reply<NoParameters>.self, from: text.utf8)
        #expect(reply.error == .unknown(name: "io.cached.Cache.Later"))
        let foreign = try Message.decode(Reply<NoParameters>.self, from: json.utf8)
        #expect(foreign.error == .unknown(name: "io.cached.Cache.Later"))
    }

    @Test(arguments: [
        (#"{"method":"m","parameters":{"urls":[1]}}"#, "urls"),
        (#"{"method":"m","parameters":{"urls":[],"priority":"high"}}"#, "priority"),
        (#"{"method":"m","parameters":[]}"#, "parameters"),
        (#"{"method":"m","parameters":{"urls":[],"refesh":true}}"#, "refesh"),
    ])
    func invalidParameterIsNamed(json: String, parameter: String) {
        guard case .invalidParameter(parameter, _) = problem(in: json) else {
            Issue.record("\(json) is taken for a call without \(parameter)")
            return
        }
    }

    @Test(arguments: [
        (
            #"{"urls":[],"refesh":true}"#,
            #""refesh" is unknown; the nearest known name is "refresh""#
        ),
        (#"{"URLs":[]}"#, #""URLs" is unknown; the nearest known name is "urls""#),
        (
            #"{"urls":[],"priority":"high"}"#,
            #""high" is not one of background, normal, visible"#
        ),
    ])
    func theReasonNamesWhatIsAllowed(parameters: String, reason: String) {
        let json = #"{"method":"m","parameters":\#(parameters)}"#
        guard case .invalidParameter(_, reason) = problem(in: json) else {
            Issue.record("\(problem(in: json).map { "\($0)" } ?? "no problem")")
            return
        }
    }

    @Test func aMissingParameterIsNamed() {
        #expect(throws: DecodingError.self) {
            try Message.decode(
                Call<Methods.Status.Parameters>.self, from: #"{"method":"m","parameters":{}}"#.utf8)
        }
    }

    @Test func unknownMembersOfRepliesAreIgnored() throws {
        let json = #"{"parameters":{"entries":1,"bytes":2,"later":3}}"#
        let reply = try Message.decode(Reply<RemovedEntries>.self, from: json.utf8)
        #expect(reply.parameters == RemovedEntries(entries: 1, bytes: 2))
    }

    @Test func membersHaveTheOrderOfTheDescription() {
        var item = Item(url: "u", key: "k", state: .cached, size: 7, pinned: true)
        item.failure = Failure(kind: "http", message: "\"no\"\n", httpStatus: 404)
        let text = String(decoding: Message.json(Reply(ItemList(items: [item]))), as: UTF8.self)
        #expect(
            text == #"{"parameters":{"items":[{"url":"u","key":"k","state":"cached","size":7,"#
                + #""pinned":true,"failure":{"kind":"http","message":"\"no\"\u000a","#
                + #""httpStatus":404}}]}}"#)
    }

    /// RFC 8259 §9 permits a parser to set a limit.
    @Test(arguments: ["[", "{\"a\":", "[{\"\\\"}\":"], [65, 512, 513, 514, 100_000])
    func tooDeepNestingIsRejected(opening: String, times: Int) {
        let value = String(repeating: opening, count: times)
        for json in [value, #"{"method":"m","parameters":"# + value] {
            guard case .invalidMessage(let reason) = problem(in: json) else {
                Issue.record("\(opening), \(times) times, is taken for a call")
                continue
            }
            #expect(reason.contains("64"), "\(reason)")
        }
    }

    @Test func bracketsInStringsDoNotCountAsNesting() throws {
        let url = String(repeating: #"[{\"["#, count: 100)
        let json = #"{"method":"m","parameters":{"urls":[""# + url + #""]}}"#
        let call = try Message.decode(Call<Methods.Status.Parameters>.self, from: json.utf8)
        #expect(call.parameters?.urls.first?.count == 400)
    }

    @Test(arguments: ["", "nonsense", "{}", "[]", #"{"method":7}"#])
    func malformedCallIsAnInvalidMessage(json: String) {
        guard case .invalidMessage = problem(in: json) else {
            Issue.record("\(json) is taken for a call")
            return
        }
    }

    @Test func statsValuesKeepTheirTypes() throws {
        let stats: [String: JSONValue] = ["a": 1, "b": 1.5, "c": true, "d": "text"]
        #expect(try Message.decode(from: Message.json(stats)) == stats)
    }

    private func problem(in json: String) -> WireError? {
        do throws(DecodingError) {
            _ = try Message.decode(Call<Methods.Fetch.Parameters>.self, from: json.utf8)
            return nil
        } catch {
            return WireError(error)
        }
    }
}
