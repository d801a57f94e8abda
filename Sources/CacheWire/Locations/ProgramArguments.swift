/// The arguments this process was started with.
public enum ProgramArguments {
    /// Why they can't be used as they were given, for a person; `nil` if they can.
    ///
    /// Swift reads them from `/proc/self/cmdline`, and puts another character in the place of what is not
    /// UTF-8: a URL or a path would be another one. proc(5)
    public static var problem: String? {
        guard CommandLine.argc > 0 else {
            return "the arguments can't be read, which takes /proc; mount it"
        }
        for number in 1..<Int(CommandLine.argc) {
            let argument = CommandLine.unsafeArgv[number]
            if let argument, String(validatingCString: argument) == nil {
                return
                    "argument \(number) is not UTF-8; percent-encode it in a URL, rename it in a path"
            }
        }
        return nil
    }
}
