/// The program that opens pictures for a person, and its first arguments.
struct ImageOpener: Hashable {
    let program: String
    var arguments: [String] = []
}

extension ImageOpener {
    /// Chooses xdg-open(1), which knows the desktop's settings, else gio(1), else the first browser in `BROWSER` that
    /// is installed. `nil` if there is none.
    ///
    /// - Parameters:
    ///   - browsers: the value of `BROWSER`: commands with colons between them. A `%s` stands for the file.
    ///   - isInstalled: returns whether a program is installed.
    init?(browsers: String?, isInstalled: (String) -> Bool) {
        if isInstalled("xdg-open") {
            self.init(program: "xdg-open")
        } else if isInstalled("gio") {
            self.init(program: "gio", arguments: ["open"])
        } else {
            let commands = (browsers ?? "").split(separator: ":").map { command in
                command.split(separator: " ").map(String.init).filter { $0 != "%s" }
            }
            guard let command = commands.first(where: { $0.first.map(isInstalled) == true }) else {
                return nil
            }
            self.init(program: command[0], arguments: Array(command.dropFirst()))
        }
    }
}
