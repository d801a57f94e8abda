import ImageFormats
import Testing

@Suite("Media type")
struct MediaTypeTests {
    @Test(arguments: MediaType.allCases)
    func nameRoundTrips(_ type: MediaType) {
        #expect(MediaType(name: type.name) == type)
    }

    @Test func otherIsZero() {
        #expect(MediaType.other.rawValue == 0)
    }

    @Test(arguments: ["", "image/jpg", "IMAGE/PNG", "image/png "])
    func rejectsOtherNames(_ name: String) {
        #expect(MediaType(name: name) == nil)
    }
}
