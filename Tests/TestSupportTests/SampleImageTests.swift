import TestSupport
import Testing

@Suite("Sample images", .timeLimit(.minutes(5)))
struct SampleImageTests {
    @Test(arguments: [nil, 80_000, 200_000])
    func arePNGsThatAnotherProgramReads(byteCount: Int?) async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope)
            let image = SampleImage.png(width: 300, height: 250, byteCount: byteCount)
            if let byteCount { #expect(image.count == byteCount) }
            let path = try directory.write(image, to: "a.png")
            let script = """
                import struct, sys, zlib
                data = open(sys.argv[1], "rb").read()
                at, pixels = 8, b""
                while at < len(data):
                    size, kind = struct.unpack(">I4s", data[at:at + 8])
                    body = data[at + 8:at + 8 + size]
                    crc, = struct.unpack(">I", data[at + 8 + size:at + 12 + size])
                    assert zlib.crc32(kind + body) == crc, kind
                    if kind == b"IDAT": pixels += body
                    at += 12 + size
                print(kind.decode(), len(zlib.decompress(pixels)))
                """
            let read = try await runSuccessfully("python3", ["-c", script, path])
            #expect(read == "IEND 75250\n")
        }
    }
}
