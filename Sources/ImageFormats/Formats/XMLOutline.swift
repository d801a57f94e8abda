/// Follows the nesting of XML elements to find the root element and its end.
///
/// Extensible Markup Language 1.0 (Fifth Edition) §2.5 comments, §2.6 processing instructions,
/// §2.7 CDATA, §2.8 prolog, §3.1 tags. It does not match names and does not expand entities.
struct XMLOutline: Sendable {
    private enum State {
        case text
        /// After `<`.
        case open
        /// Inside a start tag. `isEmpty` is set after a slash.
        case tag(isEmpty: Bool)
        case quoted(by: UInt8)
        case endTag
        /// After `<!`, until the following letters show a comment, CDATA or a declaration.
        case declarationName
        /// Inside `<!…>`. `quote` is set inside a quoted string.
        case declaration(quote: UInt8?)
        /// After `<` inside the brackets of a document type.
        case markup
        /// Inside `<!--…-->`, after this number of dashes.
        case comment(dashes: Int)
        /// Inside `<![CDATA[…]]>`, after this number of brackets.
        case cdata(brackets: Int)
        /// Inside `<?…?>`.
        case instruction(isEnding: Bool)
    }

    /// Longer names are cut. `svg` with any usual prefix is shorter.
    private static let nameLimit = 128

    /// The name of the root element. `nil` until it is known.
    private(set) var root: [UInt8]?
    /// Something precedes the root element that must not be there.
    private(set) var isForeign = false
    /// The root element is closed.
    private(set) var isClosed = false
    /// The root element is followed by more than white space, comments and instructions.
    private(set) var hasTextAfterRoot = false
    private var state = State.text
    private var depth = 0
    /// Open brackets of the document type. Comments and instructions inside the brackets return to it.
    private var brackets = 0
    /// The letters so far of the root element's name or of the word after `<!`.
    private var name: [UInt8] = []

    /// The last markup is complete.
    var isBetweenMarkup: Bool { if case .text = state { true } else { false } }

    /// Reads one byte or more from `index` on, and returns the index of the next byte.
    ///
    /// Skips character data and attribute values by searching for their end.
    mutating func take(_ bytes: UnsafeRawBufferPointer, from index: Int) -> Int {
        var index = index
        switch state {
        case .text where depth > 0: index = bytes.firstIndex(of: 0x3C, from: index)
        case .quoted(let quote): index = bytes.firstIndex(of: quote, from: index)
        default: break
        }
        if index < bytes.count { take(bytes[index]) }
        return index + 1
    }

    mutating func take(_ byte: UInt8) {
        switch state {
        case .text: text(byte)
        case .open: open(byte)
        case .tag(let isEmpty): tag(byte, isEmpty: isEmpty)
        case .quoted(let quote): if byte == quote { state = .tag(isEmpty: false) }
        case .endTag: if byte == UInt8(ascii: ">") { elementEnded() }
        case .declarationName: declarationName(byte)
        case .declaration(let quote): declaration(byte, quote)
        case .markup: markup(byte)
        case .comment(let dashes): comment(byte, dashes)
        case .cdata(let brackets): cdata(byte, brackets)
        case .instruction(let isEnding):
            let ends = isEnding && byte == UInt8(ascii: ">")
            state = ends ? outer : .instruction(isEnding: byte == UInt8(ascii: "?"))
        }
    }

    private mutating func text(_ byte: UInt8) {
        if byte == UInt8(ascii: "<") {
            state = .open
        } else if depth == 0, !Self.isSpace(byte) {
            strayed()
        }
    }

    private mutating func open(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "/"):
            state = .endTag
            if depth == 0 { strayed() }
        case UInt8(ascii: "!"):
            state = .declarationName
            name = []
        case UInt8(ascii: "?"):
            state = .instruction(isEnding: false)
        default:
            if isClosed { strayed() }
            name = []
            state = .tag(isEmpty: false)
            tag(byte, isEmpty: false)
        }
    }

    private mutating func tag(_ byte: UInt8, isEmpty: Bool) {
        if root == nil { rootName(byte) }
        switch byte {
        case UInt8(ascii: ">"):
            depth += 1
            state = .text
            if isEmpty { elementEnded() }
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            state = .quoted(by: byte)
        default:
            state = .tag(isEmpty: byte == UInt8(ascii: "/"))
        }
    }

    private mutating func rootName(_ byte: UInt8) {
        if Self.isSpace(byte) || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") {
            root = name
        } else if name.count < Self.nameLimit {
            name.append(byte)
        }
    }

    private mutating func elementEnded() {
        state = .text
        guard depth > 0 else { return }
        depth -= 1
        if depth == 0 { isClosed = true }
    }

    private static let commentStart = Array("--".utf8)
    private static let dataStart = Array("[CDATA[".utf8)
    private static let documentType = Array("DOCTYPE".utf8)
    private static let declarationNames = [commentStart, dataStart, documentType]

    private mutating func declarationName(_ byte: UInt8) {
        name.append(byte)
        if name == Self.commentStart {
            state = .comment(dashes: 0)
        } else if name == Self.dataStart {
            state = .cdata(brackets: 0)
            if depth == 0 { strayed() }
        } else if name == Self.documentType {
            state = .declaration(quote: nil)
            if isClosed { strayed() }
        } else if !Self.declarationNames.contains(where: { $0.starts(with: name) }) {
            state = .declaration(quote: nil)
            // The brackets of a document type have other declarations.
            if depth == 0, brackets == 0 { strayed() }
        }
    }

    /// The state after a comment or an instruction.
    private var outer: State { brackets > 0 ? .declaration(quote: nil) : .text }

    private mutating func declaration(_ byte: UInt8, _ quote: UInt8?) {
        if let quote {
            state = .declaration(quote: byte == quote ? nil : quote)
            return
        }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): state = .declaration(quote: byte)
        case UInt8(ascii: "["): brackets += 1
        case UInt8(ascii: "]"): brackets = max(0, brackets - 1)
        case UInt8(ascii: "<") where brackets > 0: state = .markup
        case UInt8(ascii: ">") where brackets == 0: state = .text
        default: break
        }
    }

    private mutating func markup(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "!"):
            state = .declarationName
            name = []
        case UInt8(ascii: "?"):
            state = .instruction(isEnding: false)
        default:
            state = .declaration(quote: nil)
            declaration(byte, nil)
        }
    }

    private mutating func comment(_ byte: UInt8, _ dashes: Int) {
        switch byte {
        case UInt8(ascii: "-"): state = .comment(dashes: min(2, dashes + 1))
        case UInt8(ascii: ">") where dashes == 2: state = outer
        default: state = .comment(dashes: 0)
        }
    }

    private mutating func cdata(_ byte: UInt8, _ brackets: Int) {
        switch byte {
        case UInt8(ascii: "]"): state = .cdata(brackets: min(2, brackets + 1))
        case UInt8(ascii: ">") where brackets == 2: state = .text
        default: state = .cdata(brackets: 0)
        }
    }

    /// Records that something outside of the root element does not belong there.
    private mutating func strayed() {
        if isClosed {
            hasTextAfterRoot = true
        } else {
            isForeign = true
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}
