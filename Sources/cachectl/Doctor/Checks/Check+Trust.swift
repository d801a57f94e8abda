import Glibc

extension Check {
    /// Whether there are certificates by which servers of https URLs are verified.
    static let trust = Check("trust") { examination in
        let file = examination.text("trustFile")
        let directory = examination.text("trustDirectory")
        let isKnown = file != nil || directory != nil
        let files = isKnown ? [file].compactMap(\.self) : usualFiles
        if let found = files.first(where: hasCertificate) {
            return [.ok("certificates are in \(found)")]
        }
        if let directory, hasHashedNames(directory) {
            return [.ok("certificates are in \(directory)")]
        }
        let places = (files + [directory].compactMap(\.self)).joined(separator: ", ")
        return [
            .wrong(
                "there are no certificates in \(places): every https URL fails",
                fix: "install ca-certificates, or name a file with --ca-file")
        ]
    }

    /// Debian, Fedora, openSUSE, Alpine.
    private static let usualFiles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    ]

    private static func hasCertificate(_ path: String) -> Bool {
        // The usual name is a link on many systems.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard let bytes = try? FileBytes.read(descriptor, name: path) else { return false }
        return bytes.firstRange(of: Array("-----BEGIN ".utf8)) != nil
    }

    /// The names by which OpenSSL finds certificates in a directory: eight hexadecimal digits, a dot and a number.
    /// openssl-rehash(1).
    private static func hasHashedNames(_ path: String) -> Bool {
        var isFound = false
        try? OpenFolder(at: path)?.each { name, _ in
            let parts = name.split(separator: ".")
            isFound =
                isFound
                || parts.count == 2 && parts[0].count == 8
                    && parts[0].allSatisfy(\.isHexDigit) && parts[1].allSatisfy(\.isNumber)
        }
        return isFound
    }
}
