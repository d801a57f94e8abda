import Testing

@testable import cachectl

@Suite struct KeyDecoderTests {
    @Test(arguments: [
        ("q", [Key.character("q")]), ("\t\r", [.tab, .enter]), ("\u{1B}[A\u{1B}OB", [.up, .down]),
        ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]), ("\u{1B}[H\u{1B}[4~", [.home, .end]),
        ("\u{1B}[1;5Cj", [.character("j")]), ("\u{1B}\u{1B}[A", [.escape, .up]),
        ("\u{1B}q", [.escape, .character("q")]), ("\u{1}ä", []),
        ("a\u{7F}", [.character("a"), .backspace]),
        ("\u{1B}[<0;10;5M\u{1B}[<0;10;5m", [.click(column: 9, line: 4)]),
        ("\u{1B}[<64;1;1M\u{1B}[<69;1;1M\u{1B}[<2;1;1M", [.wheelUp, .wheelDown]),
        ("\u{1B}[<M\u{1B}[<;;M\u{1B}[<0;99999999999999999999;1Mj", [.character("j")]),
    ])
    func bytesBecomeKeys(bytes: String, keys: [Key]) {
        var decoder = KeyDecoder()
        #expect(decoder.decode(bytes.utf8, now: .zero) == keys)
        #expect(decoder.deadline == nil)
    }

    @Test func sequenceCanArriveInPieces() {
        var decoder = KeyDecoder()
        for (step, piece) in ["\u{1B}", "[", "5"].enumerated() {
            let now = Duration.milliseconds(40 * step)
            #expect(decoder.decode(piece.utf8, now: now).isEmpty)
            // Another event happens before the timeout.
            #expect(decoder.waited(until: now + .milliseconds(39)).isEmpty)
        }
        let keys = decoder.decode("~x".utf8, now: .milliseconds(120))
        #expect(keys == [.pageUp, .character("x")])
    }

    @Test func loneEscapeByteBecomesAKeyAfterTheTimeout() {
        var decoder = KeyDecoder()
        #expect(decoder.decode([0x1B], now: .seconds(1)).isEmpty)
        #expect(decoder.decode([], now: .seconds(2)).isEmpty)
        #expect(decoder.deadline == .milliseconds(1050))
        #expect(decoder.waited(until: .milliseconds(1049)).isEmpty)
        #expect(decoder.waited(until: .milliseconds(1050)) == [.escape])
        #expect(decoder.deadline == nil && decoder.waited(until: .seconds(2)).isEmpty)
    }
}
