/// How a request reaches its host.
///
/// A proxy resolves the host's name and opens the connection itself, so the cache has no address to refuse.
/// Therefore each URL is looked up first, by a request that never gets a socket: libcurl resolves the name and
/// offers its addresses. A forbidden address ends the download. A name that only the proxy can resolve cannot be
/// checked. So is every name for a proxy that looks names up, which is told them as they are.
enum RequestRoute: Equatable {
    /// By a connection to the host.
    case direct
    /// Not at all: the host's name is resolved and its addresses are checked.
    case lookup
    /// Through this proxy.
    case proxy(ProxyChoice)
}
