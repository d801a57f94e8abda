#if DEBUG
    import Glibc
    import NIOCore

    /// While the page is being written, its files come from the folder that `CACHED_GALLERY_PAGE` names. Only debug
    /// builds have this.
    enum PageFolder {
        private static let path = getenv("CACHED_GALLERY_PAGE").map { String(cString: $0) }

        static func file(_ name: String) -> ByteBuffer? {
            guard let path, !name.contains("/"), let file = fopen("\(path)/\(name)", "r") else {
                return nil
            }
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = fread(&bytes, 1, bytes.count, file)
            return ByteBuffer(bytes: bytes[..<count])
        }
    }
#endif
