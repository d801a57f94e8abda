import CacheWire
import Glibc

/// Shows a cached image on the terminal, or writes its bytes if standard output leads elsewhere.
struct ShowSession {
    let client: Client

    func show(_ item: Item) throws {
        guard StandardStream.output.isTerminal else {
            return try ShownFile(of: item, client).print()
        }
        let file = item.mediaType == "image/png" ? item.path : nil
        switch PictureMethod(for: item, on: TerminalProbe.ask(about: file)) {
        case .kittyFile:
            try print(Picture.kitty(file: item.path ?? "", in: box(for: item)))
        case .kittyData:
            let bytes = try ShownFile(of: item, client).read()
            try print(Picture.kitty(png: bytes, in: box(for: item)))
        case .inlineFile:
            let bytes = try ShownFile(of: item, client).read()
            try print(Picture.inline(bytes, in: box(for: item)))
        case .tool(let name, let arguments):
            let file = try ShownFile(of: item, client)
            guard ExternalProgram.run(name, arguments + [file.programPath]) else {
                return try printFields(item)
            }
        case .text:
            try printFields(item)
        }
    }

    private func box(for item: Item) -> PictureBox {
        PictureBox(
            width: item.width, height: item.height, cells: TerminalSize(of: STDOUT_FILENO),
            pixels: TerminalSize(pixelsOf: STDOUT_FILENO))
    }

    /// Prints the fields that `info` prints.
    private func printFields(_ item: Item) throws {
        let known = try client.call(
            Methods.Status.self, .init(urls: [item.url], details: true))
        var output = Output()
        for item in known.items { try item.fieldLines.forEach { try output.line($0) } }
        try output.flush()
    }

    private func print(_ picture: String) throws {
        var output = Output()
        output.text(picture)
        try output.flush()
    }
}
