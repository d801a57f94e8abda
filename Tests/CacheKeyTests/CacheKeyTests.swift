import CacheKey
import Testing

@Suite struct CacheKeyTests {
    /// Published in the documentation of OpenTofu and Terraform as uuidv5("url", …), and
    /// verified with Python, Node and sha1sum.
    @Test(arguments: [
        ("https://www.opentofu.org/", "ace93eea-1a2c-5eed-b41b-718be15d2e50"),
        ("https://www.terraform.io/", "9db6f67c-dd95-5ea0-aa5b-e70e5c5f7cf5"),
        ("http://www.example.com/", "fcde3c85-2270-590f-9e7c-ee003d65e0e2"),
        ("https://www.example.com/widgets", "2594caa0-d81c-548c-9838-951f8eb25068"),
        ("http://www.example.com", "2d32a3f1-fac2-52a6-ac52-fe9e87e628ea"),
        ("https://example.com/a.png", "c01a4429-4703-5b6a-8726-7982c1849d2a"),
    ])
    func keysMatchPublishedNames(url: String, name: String) throws {
        #expect(CacheKey(try CacheURL(url)).description == name)
    }

    /// Bytes that are not an acceptable URL have a key too.
    @Test(arguments: [
        ("https://example.com/a.png#f", "89ef5d26-01e5-5180-a12c-ff0bdaad7783"),
        ("https://example.com/a b.png", "e7124ee1-50dd-5c9b-87cb-a97bd7d10c6d"),
    ])
    func anyBytesHaveAKey(text: String, name: String) {
        let key = Array(text.utf8).withUnsafeBytes { CacheKey(urlBytes: $0) }
        #expect(key.description == name)
    }

    @Test func printedKeyParsesBackToTheSameKey() throws {
        for url in SampleURLs.make(count: 1000) {
            let key = CacheKey(try CacheURL(url))
            #expect(CacheKey(key.description) == key)
            var printed = key.description
            let same = printed.withUTF8 { CacheKey(name: UnsafeRawBufferPointer($0)) }
            #expect(same == key)
        }
    }

    @Test(arguments: [
        "", "c01a4429-4703-5b6a-8726-7982c1849d2", "c01a4429-4703-5b6a-8726-7982c1849d2aa",
        "C01A4429-4703-5B6A-8726-7982C1849D2A", "c01a4429-4703-5b6a-8726-7982c1849d2a.part",
        "c01a4429-4703-4b6a-8726-7982c1849d2a", "c01a4429-4703-5b6a-c726-7982c1849d2a",
        "c01a4429047030 5b6a-8726-7982c1849d2", "g01a4429-4703-5b6a-8726-7982c1849d2a",
        "CACHEDIR.TAG", ".lock",
    ])
    func otherNamesAreRejected(name: String) {
        #expect(CacheKey(name) == nil)
    }

    @Test func keysSortLikeTheirNames() throws {
        let keys = try SampleURLs.make(count: 200).map { CacheKey(try CacheURL($0)) }
        #expect(keys.sorted().map(\.description) == keys.map(\.description).sorted())
    }
}
