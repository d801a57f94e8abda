import CacheWire
import Glibc

/// Draws pictures into a part of the screen.
final class TopPictures {
    /// A picture and where it belongs.
    struct Request: Hashable {
        var item: Item
        var place: PicturePlace
    }

    /// Text to write at a cell.
    struct Piece: Hashable {
        var column: Int
        var line: Int
        var text: String
    }

    private let connect: () throws -> Client
    /// What the terminal can show. The first picture asks it.
    private lazy var support = TerminalProbe.ask(about: nil)

    init(connect: @escaping () throws -> Client) {
        self.connect = connect
    }

    /// Nothing if the terminal or the installed programs cannot show the picture, or if the image
    /// has gone meanwhile: the fields say what it is.
    func draw(_ request: Request) -> [Piece] {
        do {
            return pieces(try text(request), at: request.place)
        } catch {
            return []
        }
    }

    private func text(_ request: Request) throws -> String {
        let (item, place) = (request.item, request.place)
        let box = PictureBox(
            width: item.width, height: item.height,
            // The box leaves one line free, for the prompt of a shell.
            cells: TerminalSize(columns: place.columns, lines: place.lines + 1),
            pixels: pixels(of: place))
        switch PictureMethod(for: item, on: support) {
        case .kittyFile, .text: return ""
        case .kittyData:
            let bytes = try ShownFile(of: item, connect()).read()
            return Picture.kitty(png: bytes, in: box, movesCursor: false)
        case .inlineFile:
            let bytes = try ShownFile(of: item, connect()).read()
            return Picture.inline(bytes, in: box)
        case .tool(let name, let arguments):
            let file = try ShownFile(of: item, connect())
            let size =
                name == "chafa"
                ? ["--size=\(place.columns)x\(place.lines)"]
                : pixels(of: place).map { ["--width=\($0.columns)"] } ?? []
            return ExternalProgram.output(name, arguments + size + [file.programPath]) ?? ""
        }
    }

    /// The pixels of the cells; `nil` if the terminal does not report them.
    private func pixels(of place: PicturePlace) -> TerminalSize? {
        guard let all = TerminalSize(pixelsOf: STDOUT_FILENO) else { return nil }
        let cells = TerminalSize(of: STDOUT_FILENO)
        return TerminalSize(
            columns: all.columns * place.columns / max(1, cells.columns),
            lines: all.lines * place.lines / max(1, cells.lines))
    }

    /// A picture of characters has several lines, of which each begins at the same column. Others
    /// are one sequence.
    private func pieces(_ text: String, at place: PicturePlace) -> [Piece] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
        return zip(lines, 0..<place.lines).map { line, index in
            Piece(column: place.column, line: place.line + index, text: String(line))
        }
    }
}

extension TopModel {
    /// The picture that the screen should show.
    var picture: TopPictures.Request? {
        guard let details, details.state == .cached, !isHelpShown,
            let place = DetailsLayout(size: size).picture
        else { return nil }
        // Progress and times do not change the picture.
        var item = Item(url: details.url, key: details.key, state: .cached)
        (item.path, item.mediaType, item.size) = (details.path, details.mediaType, details.size)
        (item.width, item.height, item.orientation) = (
            details.width, details.height, details.orientation
        )
        item.fetchedAt = details.fetchedAt
        return item.path == nil ? nil : .init(item: item, place: place)
    }
}
