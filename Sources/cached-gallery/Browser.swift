import Glibc

/// Opens an address in the user's browser. Other users can read the arguments of a program, so the browser gets the path
/// of a file that only this user can read, and the file leads to the address.
struct Browser {
    private let path: String

    /// Writes the file. mkstemps(3).
    init(leadingTo address: String) throws(ProgramFailure) {
        var template = Array("\(Self.directory)/cached-gallery-XXXXXX.html".utf8CString)
        let descriptor = mkstemps(&template, 5)
        guard descriptor >= 0 else {
            throw .file("cannot make a file in \(Self.directory)", errno)
        }
        defer { close(descriptor) }
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        let text = """
            <!doctype html><meta charset="utf-8"><title>Cached images</title>
            <meta name="referrer" content="no-referrer">
            <meta http-equiv="refresh" content="0; url=\(address)"><a href="\(address)">Cached images</a>

            """
        // The name is made for this user alone, whatever the umask is.
        guard fchmod(descriptor, 0o600) == 0,
            write(descriptor, text, text.utf8.count) == text.utf8.count
        else {
            let failure = errno
            unlink(path)
            throw .file("cannot write \(path)", failure)
        }
    }

    /// The user's own folder for such files, which ends with the session.
    private static var directory: String {
        for name in ["XDG_RUNTIME_DIR", "TMPDIR"] {
            if let value = getenv(name).map({ String(cString: $0) }), value.hasPrefix("/") {
                return value
            }
        }
        return "/tmp"
    }

    /// Starts the browser, and does not wait for it. Returns `false` if there is none.
    func open() -> Bool {
        Self.programs.contains { ChildProcess.start($0 + ["file://\(path)"]) }
    }

    /// `$BROWSER` first, because the user has chosen it.
    private static var programs: [[String]] {
        let chosen = getenv("BROWSER").map { String(cString: $0) } ?? ""
        let browsers = chosen.split(separator: ":").map { command in
            command.split(separator: " ").map(String.init).filter { $0 != "%s" }
        }
        return browsers.filter { !$0.isEmpty } + [["xdg-open"], ["gio", "open"]]
    }

    func remove() {
        unlink(path)
    }
}
