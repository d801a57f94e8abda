import Foundation
import TestSupport
import Testing

/// The pictures of terminal screens and the diagrams in the documents, as a browser draws them.
@Suite(
    "Pictures", .serialized, .timeLimit(.minutes(2)),
    .enabled("needs chromium (`.ci/dependencies browser`) and playwright") {
        try await BrowserDriver.isInstalled()
    })
struct PictureTests {
    private static let folder = Libcached.root + "docs/pictures/"

    private struct Drawn: Decodable {
        var pieces: Int
        var words: Int
        /// The words that begin elsewhere than in their column, with the distance in columns.
        var displaced: [String]
    }

    /// The position at which the browser draws the first character of each word, and its column in the piece of text.
    ///
    /// A character of another font can be narrower or wider than a column, so half a column counts as none.
    private static let measure = """
        (() => {
          const drawn = { pieces: 0, words: 0, displaced: [] }
          for (const piece of document.querySelectorAll('text')) {
            const text = piece.textContent
            const cell = piece.textLength.baseVal.value / text.length
            drawn.pieces += 1
            for (let index = 0; index < text.length; index += 1) {
              if (text[index] === ' ' || (index > 0 && text[index - 1] !== ' ')) continue
              drawn.words += 1
              const left = Number(piece.getAttribute('x')) + index * cell
              const isDrawn = index < piece.getNumberOfChars()
              const distance = isDrawn ? (piece.getStartPositionOfChar(index).x - left) / cell : NaN
              if (!(Math.abs(distance) < 0.5)) drawn.displaced.push(`${text.slice(index)}: ${distance}`)
            }
          }
          return drawn
        })()
        """

    @Test(arguments: ["top-cached.svg", "top-downloads.svg"])
    func eachWordOfAPictureIsInItsColumn(name: String) async throws {
        try await withTestScope { scope in
            let browser = try await BrowserDriver(in: scope)
            try await browser.open("file://" + Self.folder + name)
            let drawn: Drawn = try await browser.evaluate(Self.measure)
            #expect(drawn.pieces > 30)
            #expect(drawn.words > 60)
            #expect(drawn.displaced == [])
        }
    }

    /// The texts that leave the picture, cover another one, or cross the edge of a box.
    private static let misplaced = """
        (() => {
          const edge = document.documentElement.getBoundingClientRect()
          const boxes = [...document.querySelectorAll('rect.box')].map((each) => each.getBoundingClientRect())
          const texts = [...document.querySelectorAll('text')]
            .map((each) => ({ words: each.textContent, at: each.getBoundingClientRect() }))
          const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
          const holds = (a, b) => a.left <= b.left && b.right <= a.right && a.top <= b.top && b.bottom <= a.bottom
          return texts.filter(({ at }) => !holds(edge, at)
            || boxes.some((box) => meet(box, at) && !holds(box, at))
            || texts.some((other) => other.at !== at && meet(at, other.at))).map(({ words }) => words)
        })()
        """

    @Test(arguments: ["life", "eviction", "which-daemon", "touches", "states", "slots"])
    func eachWordOfADiagramHasItsPlace(name: String) async throws {
        try await withTestScope { scope in
            let folder = try TemporaryDirectory(in: scope)
            try await runSuccessfully(Self.folder + "draw", [folder.path])
            let drawn = try String(contentsOfFile: folder.file("\(name).svg"), encoding: .utf8)
            let kept = try String(contentsOfFile: Self.folder + "\(name).svg", encoding: .utf8)
            #expect(drawn == kept, "run docs/pictures/draw")
            let browser = try await BrowserDriver(in: scope)
            try await browser.open("file://" + Self.folder + name + ".svg")
            let misplaced: [String] = try await browser.evaluate(Self.misplaced)
            #expect(misplaced == [])
        }
    }

    @Test func theProgramDrawsSpacesAndWideCharactersInTheirColumns() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let screen =
                "   3 files      \u{1B}[1m42.0%     12 kB\u{1B}[0m\n日本    next       last\n"
            let output = try await run(Self.folder + "svg", [], input: Array(screen.utf8))
            #expect(output.status == .success, "\(output.errorText)")
            let browser = try await BrowserDriver(in: scope)
            try await browser.open("file://" + home.write(output.text, to: "screen.svg"))
            let drawn: Drawn = try await browser.evaluate(Self.measure)
            #expect(drawn.words == 8)
            #expect(drawn.displaced == [])
        }
    }
}
