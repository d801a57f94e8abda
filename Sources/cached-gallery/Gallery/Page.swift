import CGalleryPage
import NIOCore

/// The files of the page, which are in the program.
enum Page {
    /// The file with a name, and its type.
    static func file(_ name: Substring) -> (bytes: ByteBuffer, type: String)? {
        let name = name.isEmpty ? "index.html" : name
        guard let type = type(of: name) else { return nil }
        #if DEBUG
            if let bytes = PageFolder.file(String(name)) { return (bytes, type) }
        #endif
        guard let file = embedded(name) else { return nil }
        return (ByteBuffer(string: String(cString: file.bytes)), type)
    }

    private static func embedded(_ name: Substring) -> cgallery_file? {
        var index = 0
        while let file = cgallery_file(index)?.pointee {
            if String(cString: file.name) == name { return file }
            index += 1
        }
        return nil
    }

    private static func type(of name: Substring) -> String? {
        if name.hasSuffix(".html") { return "text/html; charset=utf-8" }
        if name.hasSuffix(".js") { return "text/javascript; charset=utf-8" }
        if name.hasSuffix(".css") { return "text/css; charset=utf-8" }
        if name.hasSuffix(".svg") { return "image/svg+xml" }
        return nil
    }
}
