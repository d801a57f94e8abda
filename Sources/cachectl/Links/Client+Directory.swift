import CacheWire

extension Client {
    /// The cache directory of the daemon.
    func directory() throws(ClientError) -> String {
        try call(Methods.Where.self, .init()).directory
    }
}
