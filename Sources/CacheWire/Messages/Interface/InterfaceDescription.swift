/// The interface descriptions that the daemon returns from `GetInterfaceDescription`.
public enum InterfaceDescription {
    /// The name of the cache's interface.
    public static let cacheName = "io.cached.Cache"
    /// The name of the interface that every Varlink service has.
    public static let serviceName = "org.varlink.service"

    /// Looks up an interface description.
    ///
    /// - Parameter interface: the name of an interface.
    /// - Returns: its description; `nil` if the daemon does not serve it.
    public static func text(of interface: String) -> String? {
        switch interface {
        case cacheName: cache
        case serviceName: service
        default: nil
        }
    }
}
