import CacheWire
import Testing

@testable import cachectl

@Suite struct LinkPlaceTests {
    private static let key = "c01a4429-4703-5b6a-8726-7982c1849d2a"

    private func place(_ url: String, _ type: String? = "image/png") -> LinkPlace {
        LinkPlace(url: url, key: Self.key, mediaType: type)
    }

    @Test(arguments: [
        ("https://example.com/a.png", "example.com/a.png"),
        ("https://EXAMPLE.com:8080/b/c/a.png", "example.com:8080/b/c/a.png"),
        ("https://example.com/a", "example.com/a.png"),
        ("https://example.com/a.jpg", "example.com/a.jpg.png"),
        ("https://example.com/A.PNG", "example.com/A.PNG"),
        ("https://example.com", "example.com/index.png"),
        ("https://example.com/b/", "example.com/b/index.png"),
        ("https://example.com//b//a.png", "example.com/b/a.png"),
        ("https://example.com/a.png?w=80&h=6", "example.com/a?w=80&h=6.png"),
        ("https://example.com?q=/../x", "example.com/index?q=%2F..%2Fx.png"),
        ("https://[::1]:80/a.png", "[::1]:80/a.png"),
        ("https://example.com/画像.png", "example.com/画像.png"),
        ("", "unknown/index.png"),
    ])
    func linkHasTheHostThePathAndTheEnding(url: String, path: String) {
        let place = place(url)
        #expect((place.directories + [place.name]).joined(separator: "/") == path)
    }

    @Test(arguments: [
        ("https://example.com/../../etc/passwd", "example.com/%2E%2E/%2E%2E/etc/passwd.png"),
        ("https://../..", "%2E%2E/%2E%2E.png"),
        ("https://example.com/./a.png", "example.com/%2E/a.png"),
        ("https://example.com/a\u{0}b.png", "example.com/a%00b.png"),
        ("https://example.com/\u{1B}[31m/a\nb.png", "example.com/%1B[31m/a%0Ab.png"),
        ("https://example.com/\u{202E}gnp.exe", "example.com/%E2%80%AEgnp.exe.png"),
        ("https://example.com/%2E%2E/%2F.png", "example.com/%2E%2E/%2F.png"),
    ])
    func hostilePartsArePlainNames(url: String, path: String) {
        let place = place(url)
        #expect((place.directories + [place.name]).joined(separator: "/") == path)
        for name in place.directories + [place.name, place.distinctName] {
            #expect(name != "." && name != ".." && !name.isEmpty && !name.contains("/"))
            #expect(!name.unicodeScalars.contains { $0.commandsTerminal })
        }
    }

    @Test(arguments: [300, 3000, 8000])
    func longNamesFit(length: Int) {
        for letter in ["x", "é", "画", "\u{1}"] {
            let long = String(repeating: letter, count: length)
            for url in [
                "https://example.com/\(long).png", "https://example.com/\(long)/a.png",
                "https://example.com/a.png?\(long)", "https://\(long)/a.png",
            ] {
                let place = place(url)
                for name in place.directories + [place.name, place.distinctName] {
                    #expect(!name.isEmpty && name.utf8.count <= 255)
                }
                #expect(place.name.hasSuffix(".png") && place.distinctName.hasSuffix(".png"))
            }
        }
        let deep = place("https://example.com/" + String(repeating: "b/", count: length) + "a.png")
        #expect(deep.directories.joined(separator: "/").utf8.count <= 2048)
        // The end was cut, so the name alone does not distinguish images.
        let cut = place("https://example.com/" + String(repeating: "x", count: 300))
        #expect(cut.name == cut.distinctName && cut.name.contains("~c01a4429"))
    }

    @Test func unknownTypesKeepTheirNames() {
        #expect(place("https://example.com/a.bin", "application/octet-stream").name == "a.bin")
        #expect(place("https://example.com/a", nil).name == "a")
        #expect(place("https://example.com/a", "image/jpeg").name == "a.jpg")
        #expect(place("https://example.com/a.jpeg", "image/jpeg").name == "a.jpeg")
        #expect(place("https://example.com/a.png").distinctName == "a~c01a4429.png")
    }

    @Test func earlierPlacesAreRecognised() {
        let place = place("https://example.com/b/a.png")
        #expect(place.allows(["example.com", "b", "a.png"]))
        #expect(place.allows(["example.com", "b", "a~c01a4429.png"]))
        #expect(place.allows(["example.com", "a~c01a4429.png"]))
        #expect(!place.allows(["example.com", "a.png"]))
        #expect(!place.allows(["example.com", "c", "a~c01a4429.png"]))
        #expect(!place.allows([]))
    }
}
