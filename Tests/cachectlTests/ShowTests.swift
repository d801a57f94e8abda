import Testing

@testable import cachectl

@Suite struct ShowTests {
    private static let kitty = "\u{1B}_Gi=31;OK\u{1B}\\"
    private static let kittyFile = "\u{1B}_Gi=32;OK\u{1B}\\"

    @Test(arguments: [
        ("", false, false, "", false),
        ("\u{1B}[?62;22c", false, false, "", true),
        ("\u{1B}[?62;4;22c", false, true, "", true),
        // The first 4 is the class of the terminal, a VT420.
        ("\u{1B}[?4;22c", false, false, "", true),
        (kitty + "\u{1B}P>|kitty(0.35.2)\u{1B}\\\u{1B}[?62;c", true, false, "kitty(0.35.2)", true),
        ("\u{1B}_Gi=31;EINVAL:no\u{1B}\\\u{1B}[?1;2c", false, false, "", true),
        ("\u{1B}P>|WezTerm 2024\u{1B}\\", false, false, "WezTerm 2024", false),
    ])
    func repliesOfTheTerminalAreParsed(
        bytes: String, data: Bool, sixels: Bool, name: String, isComplete: Bool
    ) {
        let answers = GraphicsSupport(Array(bytes.utf8))
        #expect(answers.supportsKittyData == data)
        #expect(answers.supportsSixels == sixels)
        #expect(answers.name == name)
        #expect(answers.isComplete == isComplete)
        #expect(!answers.supportsKittyFile)
    }

    @Test func bestAvailablePictureMethodIsChosen() {
        let plain = "\u{1B}[?1;2c"
        let sixels = "\u{1B}[?62;4c"
        let chafa: Set = ["chafa"]
        #expect(method("image/png", Self.kitty + Self.kittyFile + plain) == .kittyFile)
        #expect(method("image/png", Self.kitty + plain) == .kittyData)
        #expect(method("image/jpeg", Self.kitty + plain) == .text)
        #expect(method("image/jpeg", Self.kitty + plain, chafa) == drawn("kitty"))
        #expect(method("image/jpeg", "\u{1B}P>|iTerm2 3.5\u{1B}\\" + plain) == .inlineFile)
        #expect(method("image/jpeg", plain, program: "iTerm.app") == .inlineFile)
        #expect(
            method("image/png", sixels, ["img2sixel", "chafa"]) == .tool("img2sixel", arguments: [])
        )
        #expect(method("image/png", sixels, chafa) == drawn("sixels"))
        #expect(method("image/png", plain, chafa) == drawn("symbols"))
        #expect(method("image/png", plain, ["img2sixel"]) == .text)
        #expect(method("image/png", "") == .text)
    }

    @Test func pictureIsSentInChunks() {
        let png = [UInt8](repeating: 7, count: 6000)
        let pieces = Picture.kitty(png: png, in: PictureBox()).split(separator: "\u{1B}\\")
        #expect(pieces.count == 3)
        #expect(pieces[0].hasPrefix("\u{1B}_Ga=T,f=100,t=d,q=2,m=1;BwcH"))
        #expect(pieces[1].hasPrefix("\u{1B}_Gm=0;"))
        #expect(pieces[0].split(separator: ";")[1].count == 4096)
        #expect(pieces[2] == "\n")
        let file = Picture.kitty(file: "/c/k", in: PictureBox(columns: 80))
        #expect(file == "\u{1B}_Ga=T,f=100,t=f,q=2,c=80;L2Mvaw==\u{1B}\\\n")
        let inline = Picture.inline([1, 2, 3], in: PictureBox(lines: 23))
        #expect(inline == "\u{1B}]1337;File=inline=1;size=3;height=23:AQID\u{07}\n")
    }

    @Test func onlyTooLargePicturesAreScaled() {
        let cells = TerminalSize(columns: 80, lines: 25)
        func box(_ width: Int?, _ height: Int?, _ pixels: TerminalSize? = nil) -> PictureBox {
            PictureBox(width: width, height: height, cells: cells, pixels: pixels)
        }
        #expect(box(640, 400) == PictureBox())
        #expect(box(1280, 400) == PictureBox(columns: 80))
        #expect(box(641, 4000) == PictureBox(lines: 24))
        #expect(box(1280, 400, TerminalSize(columns: 1600, lines: 900)) == PictureBox())
        #expect(box(nil, nil) == PictureBox())
    }

    private func method(
        _ type: String, _ answers: String, _ installed: Set<String> = [], program: String? = nil
    ) -> PictureMethod {
        PictureMethod(
            type, on: GraphicsSupport(Array(answers.utf8)), program: program,
            isInstalled: installed.contains)
    }

    private func drawn(_ format: String) -> PictureMethod {
        .tool("chafa", arguments: ["--animate=off", "--format=\(format)"])
    }
}
