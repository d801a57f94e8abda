import Foundation

/// A fenced block of a Markdown file.
///
///     ```python cached prints=image/png
///     …
///     ```
///
/// The first word after the fence is its language. The others, which readers do not see, are for tests.
public struct MarkdownBlock: Sendable, CustomStringConvertible {
    /// The name of the file and the line of the fence.
    public let description: String
    public let language: String
    /// The words after the language: `name=value`, or a name alone, whose value is empty.
    public let settings: [String: String]
    public let text: String

    /// All blocks of a file, in their order.
    public static func blocks(of path: String) throws -> [MarkdownBlock] {
        var blocks: [MarkdownBlock] = []
        var open: (line: Int, words: [Substring], text: [Substring])?
        let lines = String(decoding: try contents(of: path), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            guard line.hasPrefix("```") else {
                open?.text.append(line)
                continue
            }
            guard let (start, words, text) = open else {
                open = (number + 1, line.dropFirst(3).split(separator: " "), [])
                continue
            }
            let name = URL(filePath: path).lastPathComponent
            let settings = words.dropFirst().map { word in
                let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
                return (parts[0], parts.count > 1 ? parts[1] : "")
            }
            blocks.append(
                MarkdownBlock(
                    description: "\(name):\(start)", language: words.first.map(String.init) ?? "",
                    settings: Dictionary(settings) { $1 },
                    text: text.joined(separator: "\n") + "\n"))
            open = nil
        }
        guard open == nil else { throw TestFailure("\(path): the last block has no end") }
        return blocks
    }
}
