import Glibc
import TestSupport

/// A real nginx for which the right content of every URL is known in advance.
///
/// The last part of a path is a number, and the number selects the image. So there are any number of URLs,
/// but few images.
struct ImageOrigin: Sendable {
    /// The first part of a path.
    enum Kind: String, CaseIterable, Sendable {
        /// One image at full speed.
        case steady
        /// One image whose end arrives a second later or more.
        case slow
        /// One of two images, depending on the time.
        case alternating
    }

    /// The number of images, in each of two versions.
    static let images = 100

    private let nginx: Nginx
    /// By version, then by number. No two have the same size.
    private let bodies: [[[UInt8]]]

    init(in scope: TestScope) async throws {
        let pool = try TemporaryDirectory(in: scope)
        bodies = (0..<2).map { version in
            // From 200 bytes to 40 kB.
            (0..<Self.images).map { number in
                SampleImage.png(
                    byteCount: 200 + number * number * 4 + version, seed: number)
            }
        }
        for (version, images) in bodies.enumerated() {
            try pool.directory("\(version)")
            for (number, image) in images.enumerated() {
                try pool.write(image, to: "\(version)/\(number).png")
            }
        }
        nginx = try await Nginx(serving: [:], extra: Self.configuration(pool.path), in: scope)
    }

    private static func configuration(_ pool: String) -> String {
        """
        access_log off;
        root "\(pool)";
        location /steady/ { rewrite "([0-9]+[.]png)$" /0/$1 break; }
        location /slow/ { limit_rate 8k; rewrite "([0-9]+[.]png)$" /0/$1 break; }
        location /alternating/ {
            set $version 0;
            if ($msec ~ "[5-9]$") { set $version 1; }
            rewrite "([0-9]+[.]png)$" /$version/$1 break;
        }
        """
    }

    /// The URL of an image; a new `serial` gives a new URL.
    func url(_ kind: Kind, _ serial: Int) -> String {
        // A slow image is longer than the part that arrives at once.
        let number = kind == .slow ? 50 + serial % 50 : serial % Self.images
        return nginx.url("\(kind.rawValue)/\(serial)/\(number).png")
    }

    /// Whether these bytes are the complete content that a URL can have.
    func canServe(_ bytes: [UInt8], _ url: String) -> Bool {
        guard let number = url.split(separator: "/").last.flatMap({ Int($0.dropLast(4)) }) else {
            return false
        }
        let versions = url.contains("/\(Kind.alternating.rawValue)/") ? 0..<2 : 0..<1
        return versions.contains { version in
            let body = bodies[version][number]
            return body.count == bytes.count && memcmp(body, bytes, body.count) == 0
        }
    }
}
