/// A shell script of the commands that a document shows together with their output.
///
///     $ cachectl status $URL
///     in-flight 47.8% 491520/1028192 http://localhost:8731/elephants.jpg
///
/// A command must print every shown line up to its first word with another character than a letter or a hyphen: numbers,
/// paths and URLs differ from one run to another. A command that has not printed them is given again, since a person
/// types slower than a script. A command without shown lines runs once, and has to succeed.
struct ConsoleScript {
    private struct Step {
        var command: String
        var labels: [String] = []
    }

    private var steps: [Step] = []

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            if line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2))))
            } else if let step = steps.last, step.command.hasSuffix("\\") {
                steps[steps.count - 1].command += "\n" + line
            } else if !steps.isEmpty, let label = Self.label(of: line) {
                steps[steps.count - 1].labels.append(label)
            }
        }
    }

    /// The words at the start of a line that are the same in every run.
    private static func label(of line: Substring) -> String? {
        let words = line.split(separator: " ").prefix { word in
            word.allSatisfy { $0.isASCII && $0.isLetter || $0 == "-" }
        }
        return words.isEmpty ? nil : words.joined(separator: " ")
    }

    var text: String {
        let lines = steps.map { step in
            guard !step.labels.isEmpty else { return step.command }
            return (["prints", step.command] + step.labels).map(Self.quoted).joined(separator: " ")
        }
        return Self.prelude + lines.joined(separator: "\n") + "\n"
    }

    private static func quoted(_ word: String) -> String {
        "'" + word.replacing("'", with: #"'\''"#) + "'"
    }

    private static let prelude = #"""
        prints() {
            command=$1; shift
            for attempt in $(seq 200); do
                output=$(eval "$command" 2>&1) || :
                missing=
                for label; do
                    printf '%s\n' "$output" | tr -s ' ' | grep -q "^ \?$label" || missing=$label
                done
                [ -n "$missing" ] || break
                sleep 0.05
            done
            printf '%s\n' "$output"
            [ -z "$missing" ] || { echo "'$command' does not print '$missing'" >&2; exit 1; }
        }

        """#
}
