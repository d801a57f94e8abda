import FoundationEssentials

/// Builds the escape sequences that draw a picture. Pure.
enum Picture {
    /// kitty's graphics protocol: transmit and display a PNG without a reply, in chunks of 4,096
    /// bytes.
    ///
    /// - Parameter movesCursor: whether the cursor stands below the picture afterwards.
    static func kitty(png: [UInt8], in box: PictureBox, movesCursor: Bool = true) -> String {
        let text = base64(png)
        let stay = movesCursor ? "" : ",C=1"
        var sequences = ""
        var rest = text[...]
        repeat {
            let chunk = rest.prefix(4096)
            let keys =
                rest.startIndex == text.startIndex ? "a=T,f=100,t=d,q=2\(box.kitty)\(stay)," : ""
            rest = rest.dropFirst(chunk.count)
            sequences += "\u{1B}_G\(keys)m=\(rest.isEmpty ? 0 : 1);\(chunk)\u{1B}\\"
        } while !rest.isEmpty
        return sequences + (movesCursor ? "\n" : "")
    }

    /// The same for a file that kitty reads itself.
    static func kitty(file: String, in box: PictureBox) -> String {
        "\u{1B}_Ga=T,f=100,t=f,q=2\(box.kitty);\(base64(Array(file.utf8)))\u{1B}\\\n"
    }

    /// The inline images protocol of iTerm2.
    static func inline(_ bytes: [UInt8], in box: PictureBox) -> String {
        "\u{1B}]1337;File=inline=1;size=\(bytes.count)\(box.inline):\(base64(bytes))\u{07}\n"
    }

    static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
