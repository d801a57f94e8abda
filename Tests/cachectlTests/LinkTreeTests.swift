import CacheWire
import Foundation
import Testing

@testable import cachectl

@Suite struct LinkTreeTests {
    private let folder: TemporaryFolder
    private let cache: String
    private let tree: LinkTree

    init() throws {
        folder = try TemporaryFolder()
        cache = try folder.folder("cache")
        tree = try LinkTree(path: "\(folder.path)/tree", cache: cache)
    }

    private func key(_ number: Int) -> String { "0000000\(number)-0000-5000-8000-000000000000" }

    /// A cached image whose file exists.
    private func item(
        _ number: Int, _ url: String, _ type: String = "image/png"
    ) throws -> Item {
        try folder.file("cache/\(key(number))", "image \(number)")
        var item = Item(url: url, key: key(number), state: .cached)
        (item.path, item.mediaType) = ("\(cache)/\(key(number))", type)
        return item
    }

    /// The bytes behind a link.
    private func text(_ place: String) throws -> String {
        try String(contentsOfFile: "\(folder.path)/tree/\(place)", encoding: .utf8)
    }

    private var contents: [String] { get throws { try folder.contents(of: "tree") } }

    @Test func aMissingFolderAroundTheTreeHasARemedy() throws {
        let failure = #expect(throws: CommandFailure.self) {
            try LinkTree(path: "\(folder.path)/missing/tree", cache: cache)
        }
        #expect(failure?.message.hasSuffix("is missing; make both with mkdir -p") == true)
    }

    @Test func imagesGetLinksAndLoseThem() throws {
        let image = try item(1, "https://example.com/b/a.png")
        let made = try tree.link(image)
        #expect(made.isNew && made.place == ["example.com", "b", "a.png"])
        #expect(try text("example.com/b/a.png") == "image 1")
        #expect(try tree.link(image).isNew == false)
        // Another run finds its links.
        let later = try LinkTree(path: "\(folder.path)/tree", cache: cache)
        #expect(try later.prune() == 0)
        #expect(try later.link(image).isNew == false)
        #expect(later.unlink(key(1)) == [["example.com", "b", "a.png"]])
        #expect(try contents == [])
        #expect(later.unlink(key(1)) == [])
    }

    @Test func linksOfRemovedImagesGo() throws {
        _ = try tree.link(try item(1, "https://example.com/b/a.png"))
        _ = try tree.link(try item(2, "https://example.com/c.png"))
        try FileManager.default.removeItem(atPath: "\(cache)/\(key(1))")
        #expect(try tree.prune() == 1)
        #expect(try contents == ["example.com", "example.com/c.png"])
    }

    @Test func collisionsGetDistinctNames() throws {
        // The scheme is not part of the place, and a name can be a folder of another URL.
        let urls = [
            "https://example.com/a.png", "http://example.com/a.png", "https://example.com/a.png/b",
        ]
        for (number, url) in urls.enumerated() { _ = try tree.link(try item(number, url)) }
        #expect(
            try contents == [
                "example.com", "example.com/a.png", "example.com/a~00000001.png",
                "example.com/b~00000002.png",
            ])
        #expect(try text("example.com/b~00000002.png") == "image 2")
        #expect(try tree.prune() == 0)
        for (number, url) in urls.enumerated() {
            #expect(try tree.link(try item(number, url)).isNew == false)
        }
        // The name is free again, and stays with the image that has another one.
        #expect(tree.unlink(key(0)).count == 1)
        #expect(try tree.link(try item(1, urls[1])).isNew == false)
    }

    @Test func anotherTypeMovesTheLink() throws {
        _ = try tree.link(try item(1, "https://example.com/a"))
        #expect(try tree.link(try item(1, "https://example.com/a", "image/jpeg")).isNew)
        #expect(try contents == ["example.com", "example.com/a.jpg"])
    }

    @Test func filesOfOthersStay() throws {
        _ = try folder.folder("tree/example.com/mine")
        try folder.file("tree/example.com/a.png", "mine")
        try folder.file("elsewhere", "other")
        let foreign = "\(folder.path)/tree/example.com/b.png"
        try FileManager.default.createSymbolicLink(
            atPath: foreign, withDestinationPath: "\(folder.path)/elsewhere")
        let nearly = "\(folder.path)/tree/example.com/c.png"
        try FileManager.default.createSymbolicLink(
            atPath: nearly, withDestinationPath: "\(cache)/CACHEDIR.TAG")
        _ = try tree.link(try item(1, "https://example.com/a.png"))
        _ = try tree.link(try item(2, "https://example.com/b.png"))
        #expect(try text("example.com/a.png") == "mine")
        #expect(try text("example.com/b.png") == "other")
        #expect(try text("example.com/a~00000001.png") == "image 1")
        for number in [1, 2] { #expect(tree.unlink(key(number)).count == 1) }
        #expect(try tree.prune() == 0)
        #expect(
            try contents == [
                "example.com", "example.com/a.png", "example.com/b.png", "example.com/c.png",
                "example.com/mine",
            ])
    }

    @Test func nothingOutsideIsWritten() throws {
        // Another program puts links in place of the folders.
        _ = try folder.folder("outside")
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/tree/example.com",
            withDestinationPath: "\(folder.path)/outside")
        let link = try tree.link(try item(1, "https://example.com/b/a.png"))
        #expect(link.place == ["a~00000001.png"])
        #expect(try folder.contents(of: "outside") == [])
        for (number, url) in [
            "https://../../outside/a.png", "https://x/../../outside/a.png", "https://x/%2e%2e/a",
        ].enumerated() {
            _ = try tree.link(try item(number + 2, url))
        }
        #expect(try folder.contents(of: "outside") == [])
        // The place is a link by now, and its target stays.
        _ = try tree.link(try item(6, "https://host/b/a.png"))
        try FileManager.default.removeItem(atPath: "\(folder.path)/tree/host/b")
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/tree/host/b", withDestinationPath: "\(folder.path)/outside")
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder.path)/outside/a.png", withDestinationPath: "\(cache)/\(key(6))")
        #expect(tree.unlink(key(6)) == [])
        #expect(try folder.contents(of: "outside") == ["a.png"])
    }

    @Test func impossibleItemsAndFoldersAreRefused() throws {
        for path in ["/etc/passwd", "\(cache)/../x", "\(cache)/\(key(2))", nil] {
            var item = Item(url: "https://example.com/a.png", key: key(1), state: .cached)
            item.path = path
            #expect(throws: CommandFailure.self) { try tree.link(item) }
        }
        #expect(throws: CommandFailure.self) { try LinkTree(path: cache, cache: cache) }
        #expect(throws: CommandFailure.self) {
            try LinkTree(path: "\(cache)/links", cache: cache)
        }
        #expect(throws: CommandFailure.self) {
            try LinkTree(path: try folder.file("file"), cache: cache)
        }
        #expect(throws: CommandFailure.self) {
            try LinkTree(path: "\(folder.path)/no/such", cache: cache)
        }
    }
}
