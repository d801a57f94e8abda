/// Checks the arguments of this process.
public enum ProgramArguments {
    /// Why the arguments cannot be used, as a message for a person; `nil` if they can.
    ///
    /// Swift reads the arguments from `/proc/self/cmdline` and replaces bytes that are not UTF-8,
    /// which would turn a URL or a path into a different one. proc(5)
    public static var problem: String? {
        guard CommandLine.argc > 0 else {
            return "cannot read the program's arguments; mount /proc, from which they are read"
        }
        for number in 1..<Int(CommandLine.argc) {
            let argument = CommandLine.unsafeArgv[number]
            if let argument, String(validatingCString: argument) == nil {
                return
                    "argument \(number) is not UTF-8; percent-encode a URL, or rename a file"
            }
        }
        return nil
    }
}
