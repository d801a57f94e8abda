import CacheWire

/// The methods of `org.varlink.service`, by which a client learns what the daemon serves.
enum ServiceMethods {
    static let info = Methods.GetInfo.Reply(
        vendor: "cached", product: "cached", version: Version.current,
        url: "file:///usr/share/doc/cached", interfaces: InterfaceDescription.served)

    static func describe(
        _ parameters: Methods.GetInterfaceDescription.Parameters
    ) throws(WireError) -> Methods.GetInterfaceDescription.Reply {
        guard let text = InterfaceDescription.text(of: parameters.interface) else {
            throw .interfaceNotFound(interface: parameters.interface)
        }
        return Methods.GetInterfaceDescription.Reply(description: text)
    }
}

extension InterfaceDescription {
    /// The names of all interfaces on the socket.
    static let served = [serviceName, cacheName]
}
