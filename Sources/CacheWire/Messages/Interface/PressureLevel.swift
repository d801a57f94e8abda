// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// How short of memory or disk space the machine is.
public enum PressureLevel: String, WireChoice {
    /// Memory or space is getting short: release the parts that are cheap to replace.
    case warning
    /// Memory or space has run out: release everything that can be released.
    case critical
}
