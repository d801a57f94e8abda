import CacheWire
import Glibc

/// The methods of `org.varlink.service`, by which a client learns what the daemon serves.
enum ServiceMethods {
    static let info = Methods.GetInfo.Reply(
        vendor: "cached", product: "cached", version: Version.current,
        url: "file://\(documentation)", interfaces: InterfaceDescription.served)

    /// The documentation that was installed with this program, in the `share` beside its `bin`; else in the usual
    /// place. hier(7).
    private static let documentation: String = {
        let usual = "/usr/share/doc/cached"
        guard let program = realpath("/proc/self/exe", nil) else { return usual }
        defer { free(program) }
        let path = String(cString: program)
        guard path.hasSuffix("/bin/cached") else { return usual }
        let installed = path.dropLast("/bin/cached".count) + "/share/doc/cached"
        return access(String(installed), R_OK) == 0 ? String(installed) : usual
    }()

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
