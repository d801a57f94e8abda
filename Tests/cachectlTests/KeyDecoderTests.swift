import Testing

@testable import cachectl

@Suite struct KeyDecoderTests {
    @Test(arguments: [
        ("q", [Key.character("q")]), ("\t\r", [.tab, .enter]), ("\u{1B}[A\u{1B}OB", [.up, .down]),
        ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]), ("\u{1B}[H\u{1B}[4~", [.home, .end]),
        ("\u{1B}[1;5Cj", [.character("j")]), ("\u{1B}\u{1B}[A", [.escape, .up]),
        ("\u{1B}q", [.escape, .character("q")]), ("\u{1}ä", []),
    ])
    func bytesBecomeKeys(bytes: String, keys: [Key]) {
        var decoder = KeyDecoder()
        #expect(decoder.decode(bytes.utf8) == keys)
        #expect(!decoder.isUndecided)
    }

    @Test func aSequenceMayComeInPieces() {
        var decoder = KeyDecoder()
        #expect(decoder.decode([0x1B]).isEmpty)
        #expect(decoder.decode("[".utf8).isEmpty)
        #expect(decoder.decode("5".utf8).isEmpty)
        #expect(decoder.decode("~x".utf8) == [.pageUp, .character("x")])
    }

    @Test func anEscapeByItselfIsAKeyAfterAWhile() {
        var decoder = KeyDecoder()
        _ = decoder.decode([0x1B])
        #expect(decoder.isUndecided)
        #expect(decoder.waited() == [.escape])
        #expect(!decoder.isUndecided && decoder.waited().isEmpty)
    }
}
