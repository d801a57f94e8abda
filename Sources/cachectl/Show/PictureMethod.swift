import CacheWire
import Glibc

/// A way to show a picture.
enum PictureMethod: Hashable {
    /// kitty reads the PNG file itself.
    case kittyFile
    /// The PNG is sent with kitty's graphics protocol.
    case kittyData
    /// The file, in any format, is sent as an inline image of iTerm2.
    case inlineFile
    /// Another program draws the picture.
    case tool(String, arguments: [String])
    /// The picture cannot be shown. A text describes it.
    case text
}

extension PictureMethod {
    /// Chooses the best method that the terminal and the installed programs support.
    ///
    /// - Parameters:
    ///   - mediaType: the type of the image.
    ///   - terminal: the terminal's replies.
    ///   - program: the value of `TERM_PROGRAM`, for terminals that do not report their names.
    ///   - isInstalled: returns whether a program is installed.
    init(
        _ mediaType: String?, on terminal: GraphicsSupport, program: String?,
        isInstalled: (String) -> Bool
    ) {
        let isPNG = mediaType == "image/png"
        let names = [terminal.name, program ?? ""].map { $0.lowercased() }
        let chafa = isInstalled("chafa")
        func drawn(by format: String) -> Self {
            .tool("chafa", arguments: ["--animate=off", "--format=\(format)"])
        }
        if isPNG, terminal.supportsKittyFile {
            self = .kittyFile
        } else if isPNG, terminal.supportsKittyData {
            self = .kittyData
        } else if names.contains(where: { $0.contains("iterm") || $0.contains("wezterm") }) {
            self = .inlineFile
        } else if terminal.supportsKittyData, chafa {
            self = drawn(by: "kitty")
        } else if terminal.supportsSixels, isInstalled("img2sixel") {
            self = .tool("img2sixel", arguments: [])
        } else if chafa {
            self = drawn(by: terminal.supportsSixels ? "sixels" : "symbols")
        } else {
            self = .text
        }
    }
}

extension PictureMethod {
    /// The best method for an image on this terminal.
    init(for item: Item, on terminal: @autoclosure () -> GraphicsSupport) {
        guard TerminalCapabilities.environment()["TERM"] != "dumb" else {
            self = .text
            return
        }
        // A terminal draws the pixels of a PNG as they are stored.
        self.init(
            item.orientation == nil ? item.mediaType : nil, on: terminal(),
            program: getenv("TERM_PROGRAM").map { String(cString: $0) },
            isInstalled: { ExternalProgram.find($0) != nil })
    }
}
