import CacheKey
import CacheSamples
import Testing

@testable import CacheCore

/// The addresses of objects, and the locations that are refused.
@Suite("Store: location")
struct StoreLocationTests {
    private let key = CacheKey(Sample.url("a"))

    private func location(
        _ text: String, endpoint: String? = "http://127.0.0.1:9000",
        style: StoreLocation.Style? = nil
    ) throws -> StoreLocation {
        try StoreLocation(text, endpoint: endpoint, region: "eu-central-1", style: style)
    }

    @Test func anObjectIsNamedByTheKeyOfItsURL() throws {
        let name = key.description
        let place = "v1/\(name.prefix(2))/\(name)"
        #expect(
            try location("s3://images").url(of: key) == "http://127.0.0.1:9000/images/\(place)")
        #expect(
            try location("s3://images/a/b-c/").url(of: key)
                == "http://127.0.0.1:9000/images/a/b-c/\(place)")
        #expect(
            try location("s3://images", endpoint: nil).url(of: key)
                == "https://images.s3.eu-central-1.amazonaws.com/\(place)")
        #expect(
            try location("s3://images.example", endpoint: nil).url(of: key)
                == "https://s3.eu-central-1.amazonaws.com/images.example/\(place)")
        #expect(
            try location("s3://images", endpoint: "https://x.example/", style: .virtual)
                .url(of: key) == "https://images.x.example/\(place)")
    }

    @Test(arguments: [
        "http://images", "images", "s3://", "s3:///a", "s3://ab", "s3://Images", "s3://a..b",
        "s3://images/A", "s3://images/a b", "s3://images/a?b", "s3://images//a", "s3://images/../a",
        "s3://-images", "s3://images-", "s3://images/ü",
    ])
    func aWrongBucketOrPrefixIsRefused(text: String) {
        #expect { try location(text) } throws: { error in
            (error as? StoreLocation.Problem)?.isAboutEndpoint == false
        }
    }

    @Test(arguments: [
        "ftp://x.example", "x.example", "http://", "http://user@x.example", "http://u:p@x.example",
        "http://x.example/path", "http://x.example?query", "http://x.example:0",
        "http://x.example:70000", "http://x example",
    ])
    func aWrongEndpointIsRefused(text: String) {
        #expect { try location("s3://images", endpoint: text) } throws: { error in
            (error as? StoreLocation.Problem)?.isAboutEndpoint == true
        }
    }

    @Test func onlyWayAcrossPublicNetworksNeedsTLS() throws {
        let open = ["http://store.example", "http://93.184.216.34:80", "http://[2a00:1450::1]"]
        let own = [
            "https://store.example", "http://127.0.0.1:9000", "http://localhost", "http://[::1]",
            "http://10.0.0.7", "http://192.168.1.2:8333",
        ]
        for endpoint in open {
            #expect(try location("s3://images", endpoint: endpoint).isOpenToListeners)
        }
        for endpoint in own {
            #expect(try !location("s3://images", endpoint: endpoint).isOpenToListeners)
        }
    }
}
