/// What a terminal said about the pictures it can draw. Pure.
struct GraphicsSupport: Hashable {
    /// It knows the graphics protocol of kitty, and draws what is sent to it.
    private(set) var supportsKittyData = false
    /// It can read the very file, too.
    private(set) var supportsKittyFile = false
    /// It knows sixels.
    private(set) var supportsSixels = false
    /// How it calls itself.
    private(set) var name = ""
    /// It has answered the last question.
    private(set) var isComplete = false

    /// The two questions to kitty have these numbers.
    static let dataQueryID = 31
    static let fileQueryID = 32

    init() {}

    /// Takes apart what was received so far.
    init(_ bytes: [UInt8]) {
        // Some end what they say with the single byte C1 control of the same meaning, none in UTF-8.
        for sequence in String(decoding: bytes, as: UTF8.self).split(separator: "\u{1B}") {
            take(sequence)
        }
    }

    private mutating func take(_ sequence: Substring) {
        if sequence.hasPrefix("_Gi="), let end = sequence.firstIndex(of: ";") {
            // Behind the number may be other keys.
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
