import Glibc

/// Shows files in the desktop's file manager.
enum FileManagerWindow {
    /// Asks the file manager to select the file (freedesktop.org, File Manager D-Bus Interface), and opens the folder if
    /// none answers. Returns `false` if no program for either is installed. The desktop decides what follows.
    static func show(_ path: String, in directory: String) -> Bool {
        guard ["dbus-send", "xdg-open", "gio"].contains(where: ChildProcess.isInstalled) else {
            return false
        }
        // The arguments are the directory, and the message to the file manager.
        let attempts = #"dbus-send "$@" > /dev/null 2>&1 || xdg-open "$0" || gio open "$0""#
        return ChildProcess.start([
            "sh", "-c", attempts, directory, "--session", "--print-reply", "--type=method_call",
            "--dest=org.freedesktop.FileManager1", "/org/freedesktop/FileManager1",
            "org.freedesktop.FileManager1.ShowItems", "array:string:\(address(path))", "string:",
        ])
    }

    /// The `file:` URL of a path (RFC 8089), also without the commas that `dbus-send` takes for the end of a value.
    private static func address(_ path: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes = Array("file://".utf8)
        for byte in path.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D...0x2F, 0x5F, 0x7E: bytes.append(byte)
            default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
