/// Where the value of a setting comes from.
enum SettingSource: Hashable, Sendable, CustomStringConvertible {
    case builtIn
    case file(path: String, line: Int)
    case environment
    case option

    var description: String {
        switch self {
        case .builtIn: "default"
        case .file(let path, let line): "\(path):\(line)"
        case .environment: "environment"
        case .option: "option"
        }
    }
}
