import CacheWire
import StubDaemon
import Testing

@Suite(.timeLimit(.minutes(5))) struct EvictionTests {
    /// A daemon that answers an eviction with `reply` and reports that `left` bytes are still used.
    private func daemon(
        _ reply: String = #"{"entries":2,"bytes":44000}"#, left: String = "0"
    ) throws -> StubDaemon {
        try StubDaemon { call in
            let isStats = call.contains("io.cached.Cache.Stats")
            let parameters = isStats ? #"{"stats":{"bytesUsed":\#(left)}}"# : reply
            return [#"{"parameters":\#(parameters)}"#]
        }
    }

    @Test func evictReportsEntriesAndBytes() throws {
        let many = try daemon()
        let outcome = try Program.run(["evict", "--to", "2MB", "--socket", many.path])
        #expect(outcome.output == "evicted 2 entries, 44000 bytes\n")
        #expect(outcome.errorOutput == "" && outcome.status == 0)
        let one = try daemon(#"{"entries":1,"bytes":22000}"#)
        let single = try Program.run(["evict", "--to", "0", "--socket", one.path])
        #expect(single.output == "evicted 1 entry, 22000 bytes\n")
    }

    @Test(arguments: [
        ("2MB", 2_000_000), ("2MiB", 2 << 20), ("4096", 4096), ("0", 0),
        ("9223372036854775807", Int.max),
    ])
    func sizesAreSentInBytes(text: String, bytes: Int) throws {
        let stub = try daemon()
        #expect(try Program.run(["evict", "--to", text, "--socket", stub.path]).status == 0)
        let call = try Message.decode(
            Call<Methods.Evict.Parameters>.self, from: try #require(stub.calls.first).utf8)
        #expect(call.parameters?.toBytes == bytes)
        #expect(stub.calls[0].contains("io.cached.Cache.Evict"))
    }

    @Test func moreRemainingThanRequestedExitsWith1() throws {
        let stub = try daemon(left: "3000")
        let over = try Program.run(["evict", "--to", "2999", "--socket", stub.path])
        #expect(over.output == "evicted 2 entries, 44000 bytes\n")
        #expect(
            over.errorOutput
                == "cachectl: 3000 bytes remain: pinned images, active downloads and partial downloads "
                + "are not evicted (`cachectl remove --all` removes partial downloads)\n")
        #expect(over.status == 1)
        let exact = try Program.run(["evict", "--to", "3000", "--socket", stub.path])
        #expect(exact.status == 0 && exact.errorOutput == "")
    }

    @Test func evictExplainsAnInvalidSize() throws {
        let outcome = try Program.run(["evict", "--to", "2qb"])
        #expect(outcome.status == 64)
        #expect(outcome.errorOutput.contains("'2qb'") && outcome.errorOutput.contains("1.5MiB"))
    }

    @Test(arguments: PressureLevel.allCases)
    func pressureReportsEntriesAndBytes(level: PressureLevel) throws {
        let stub = try daemon()
        let outcome = try Program.run(["pressure", level.rawValue, "--socket", stub.path])
        #expect(outcome.output == "evicted 2 entries, 44000 bytes\n")
        #expect(outcome.errorOutput == "" && outcome.status == 0)
        let call = try Message.decode(
            Call<Methods.Pressure.Parameters>.self, from: try #require(stub.calls.first).utf8)
        #expect(call.parameters?.level == level && stub.calls.count == 1)
    }

    @Test(arguments: [["evict", "--to", "1kB"], ["pressure", "critical"]])
    func jsonIsOneObject(arguments: [String]) throws {
        let stub = try daemon()
        let outcome = try Program.run(arguments + ["--json", "--socket", stub.path])
        #expect(outcome.lines.count == 1)
        let reply = try Message.decode(Methods.Evict.Reply.self, from: outcome.output.utf8)
        #expect(reply == .init(entries: 2, bytes: 44000))
    }

    @Test func helpNamesTheLevelsAndTheSizes() throws {
        #expect(try Program.run(["pressure", "--help"]).output.contains("warning, critical"))
        let evict = try Program.run(["evict", "--help"]).output
        #expect(evict.contains("--to <size>") && evict.contains("1.5MiB"))
    }
}
