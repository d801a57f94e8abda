/// The picture formats that a terminal supports, parsed from its replies. Pure.
struct GraphicsSupport: Hashable {
    /// The terminal supports kitty's graphics protocol with transmitted data.
    private(set) var supportsKittyData = false
    /// The terminal supports kitty's graphics protocol and can read the queried file itself.
    private(set) var supportsKittyFile = false
    /// The terminal supports sixels.
    private(set) var supportsSixels = false
    /// The terminal's name for itself.
    private(set) var name = ""
    /// Whether the terminal has answered the last query.
    private(set) var isComplete = false

    /// The IDs of the two kitty queries.
    static let dataQueryID = 31
    static let fileQueryID = 32

    init() {}

    /// Parses the bytes received so far.
    init(_ bytes: [UInt8]) {
        // Some terminals end a sequence with the equivalent one-byte C1 control, which is not valid
        // UTF-8.
        for sequence in String(decoding: bytes, as: UTF8.self).split(separator: "\u{1B}") {
            parse(sequence)
        }
    }

    private mutating func parse(_ sequence: Substring) {
        if sequence.hasPrefix("_Gi="), let end = sequence.firstIndex(of: ";") {
            // Further keys can follow the number.
            let number = sequence.dropFirst(4).prefix { $0.isNumber }
            guard sequence[end...].dropFirst() == "OK" else { return }
            if number == "\(Self.dataQueryID)" { supportsKittyData = true }
            if number == "\(Self.fileQueryID)" { supportsKittyFile = true }
        } else if sequence.hasPrefix("P>|") {
            name = String(sequence.dropFirst(3))
        } else if sequence.hasPrefix("[?"), let end = sequence.firstIndex(of: "c") {
            let attributes = sequence[..<end].dropFirst(2).split(separator: ";")
            supportsSixels = attributes.dropFirst().contains("4")
            isComplete = true
        }
    }
}
