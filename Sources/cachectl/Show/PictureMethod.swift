/// How a picture comes onto the screen.
enum PictureMethod: Hashable {
    /// kitty reads the PNG file by itself.
    case kittyFile
    /// The PNG is sent in kitty's graphics protocol.
    case kittyData
    /// The file, whatever it is, is sent as an inline image of iTerm2.
    case inlineFile
    /// Another program draws it.
    case tool(String, arguments: [String])
    /// It does not: there are words only.
    case text
}

extension PictureMethod {
    /// The best of what the terminal can and what is installed.
    ///
    /// - Parameters:
    ///   - program: `TERM_PROGRAM`, for terminals that do not say their name when asked.
    ///   - isInstalled: whether a program is there.
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
