// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// How short of memory the machine is, or the control group of the daemon.
public enum MemoryPressure: String, WireChoice {
    /// No source reports pressure.
    case normal
    /// Release what is cheap to replace.
    case warning
    /// Release everything that can be released.
    case critical
}
