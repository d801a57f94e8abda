extension OtherLanguage {
    static let go = OtherLanguage(
        name: "Go", command: ["go", "run", "FILE"],
        file: (
            "name.go",
            #"""
            package main

            import ("bufio"; "crypto/sha1"; "encoding/hex"; "fmt"; "os")

            func main() {
            	space, _ := hex.DecodeString("6ba7b8119dad11d180b400c04fd430c8")
            	lines := bufio.NewScanner(os.Stdin)
            	for lines.Scan() {
            		b := sha1.Sum(append(space[:16:16], lines.Bytes()...))
            		b[6] = b[6]&15 | 0x50
            		b[8] = b[8]&63 | 0x80
            		fmt.Printf("%x-%x-%x-%x-%x\n", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
            	}
            }
            """#
        ))

    static let java = OtherLanguage(
        name: "Java", command: ["java", "FILE"],
        file: (
            "Name.java",
            """
            import java.io.*;
            import java.nio.ByteBuffer;
            import java.security.MessageDigest;
            import java.util.UUID;

            class Name {
                public static void main(String[] args) throws Exception {
                    var lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
                    var space = UUID.fromString("6ba7b811-9dad-11d1-80b4-00c04fd430c8");
                    for (String url; (url = lines.readLine()) != null; ) {
                        var sha = MessageDigest.getInstance("SHA-1");
                        sha.update(ByteBuffer.allocate(16)
                            .putLong(space.getMostSignificantBits())
                            .putLong(space.getLeastSignificantBits()).flip());
                        var b = ByteBuffer.wrap(sha.digest(url.getBytes("UTF-8")));
                        System.out.println(new UUID(
                            b.getLong() & ~0xF000L | 0x5000L,
                            b.getLong() & ~(3L << 62) | 1L << 63));
                    }
                }
            }
            """
        ))
}
