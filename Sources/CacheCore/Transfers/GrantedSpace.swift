/// The space on the disk that a download may fill.
struct GrantedSpace {
    /// Bytes of the image for which there is space.
    var granted: Int64 = 0
    /// The bytes that a download needs space for, if it has to wait without a request; see `ParkedDownload`.
    var lacking: Int64?
}

extension Download {
    /// Whether there is space for `count` bytes more. Asks for it if it is not granted yet.
    func hasSpace(for count: Int) throws(Failure) -> Bool {
        let needed = received + Int64(count)
        guard needed > space.granted else { return true }
        switch context.delegate.space(for: key, id, needed: needed, length: length) {
        case .granted(let bytes):
            space.granted = bytes
            return true
        case .refused(let failure): throw failure
        // If others share the connection, the bytes that arrive would pile up in memory.
        case .wait: if request.head.isMultiplexed { space.lacking = needed }
        case .again: break
        }
        return false
    }
}
