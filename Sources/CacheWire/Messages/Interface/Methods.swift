// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// The full names of the daemon's methods.
public enum MethodName: String, Sendable, CaseIterable {
    case status = "io.cached.Cache.Status"
    case open = "io.cached.Cache.Open"
    case fetch = "io.cached.Cache.Fetch"
    case adjust = "io.cached.Cache.Adjust"
    case watch = "io.cached.Cache.Watch"
    case list = "io.cached.Cache.List"
    case remove = "io.cached.Cache.Remove"
    case pin = "io.cached.Cache.Pin"
    case evict = "io.cached.Cache.Evict"
    case pressure = "io.cached.Cache.Pressure"
    case history = "io.cached.Cache.History"
    case stats = "io.cached.Cache.Stats"
    case checkStore = "io.cached.Cache.CheckStore"
    case verify = "io.cached.Cache.Verify"
    case `where` = "io.cached.Cache.Where"
    case getInfo = "org.varlink.service.GetInfo"
    case getInterfaceDescription = "org.varlink.service.GetInterfaceDescription"
}

/// The methods, one type for each. They are in a namespace because other types have the same names.
public enum Methods {}
