import CLinux
import Glibc

/// Reports that the machine has another address or default route: it moved to another network, or has one again.
/// rtnetlink(7).
struct NetworkWatch: ~Copyable {
    /// Readable if something happened; `nil` if the kernel or a sandbox refuses the socket. Pauses then last as
    /// long as they were planned.
    let descriptor: Int32?

    init() {
        let watch = clinux_network_watch()
        descriptor = watch < 0 ? nil : watch
    }

    deinit {
        if let descriptor { close(descriptor) }
    }

    /// Whether the network has changed since the last call.
    func takeChange() -> Bool { descriptor.map { clinux_network_changed($0) } ?? false }
}
