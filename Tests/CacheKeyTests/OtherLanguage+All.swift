extension OtherLanguage {
    /// Each program is as short as its language permits, as a user without our library would write
    /// it.
    static let all: [OtherLanguage] = [
        python, uuidgen, node, ruby, php, perl, go, java,
    ]

    private static let python = OtherLanguage(
        name: "Python",
        command: [
            "python3", "-c",
            """
            import sys, uuid
            for line in sys.stdin.buffer.read().decode().split("\\n")[:-1]:
                print(uuid.uuid5(uuid.NAMESPACE_URL, line))
            """,
        ])

    private static let uuidgen = OtherLanguage(
        name: "uuidgen",
        command: [
            "sh", "-c",
            #"while IFS= read -r url; do uuidgen --sha1 -n @url -N "$url"; done"#,
        ],
        count: 100)

    private static let node = OtherLanguage(
        name: "Node",
        command: [
            "node", "-e",
            """
            const {createHash} = require("crypto");
            const space = Buffer.from("6ba7b8119dad11d180b400c04fd430c8", "hex");
            for (const url of require("fs").readFileSync(0, "utf8").split("\\n").slice(0, -1)) {
              const b = createHash("sha1").update(space).update(url).digest();
              b[6] = b[6] & 15 | 0x50; b[8] = b[8] & 63 | 0x80;
              console.log(b.toString("hex", 0, 16).replace(
                /(.{8})(.{4})(.{4})(.{4})(.*)/, "$1-$2-$3-$4-$5"));
            }
            """,
        ])

    private static let ruby = OtherLanguage(
        name: "Ruby",
        command: [
            "ruby", "-rdigest", "-e",
            """
            space = ["6ba7b8119dad11d180b400c04fd430c8"].pack("H*")
            STDIN.binmode.each_line(chomp: true) do |url|
              b = Digest::SHA1.digest(space + url).bytes
              b[6] = b[6] & 15 | 0x50; b[8] = b[8] & 63 | 0x80
              puts b[0, 16].pack("C*").unpack("H8H4H4H4H12").join("-")
            end
            """,
        ])

    private static let php = OtherLanguage(
        name: "PHP",
        command: [
            "php", "-r",
            """
            while (($url = fgets(STDIN)) !== false) {
              $h = sha1(hex2bin("6ba7b8119dad11d180b400c04fd430c8") . rtrim($url, "\\n"), true);
              $h[6] = chr(ord($h[6]) & 15 | 0x50); $h[8] = chr(ord($h[8]) & 63 | 0x80);
              echo join("-", unpack("H8a/H4b/H4c/H4d/H12e", $h)), "\\n";
            }
            """,
        ])

    private static let perl = OtherLanguage(
        name: "Perl",
        command: [
            "perl", "-MDigest::SHA=sha1", "-ne",
            """
            chomp;
            my @b = unpack "C*", sha1(pack("H*", "6ba7b8119dad11d180b400c04fd430c8") . $_);
            $b[6] = $b[6] & 15 | 0x50; $b[8] = $b[8] & 63 | 0x80;
            print join("-", unpack "H8H4H4H4H12", pack "C16", @b), "\\n";
            """,
        ])
}
