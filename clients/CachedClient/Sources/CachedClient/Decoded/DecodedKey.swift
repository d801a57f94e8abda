/// The identity of a decoded image: the version of the file, and the size.
struct DecodedKey: Hashable {
    private let path: String
    private let version: UInt64
    private let size: PixelSize?

    init(_ file: ImageFile, _ size: PixelSize?) {
        path = file.path
        version = file.identity
        self.size = size
    }
}
