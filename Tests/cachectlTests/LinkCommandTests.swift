import Foundation
import StubDaemon
import Testing

/// `link` and `open` as programs.
@Suite(.timeLimit(.minutes(5))) struct LinkCommandTests {
    @Test func linkFillsAFolder() throws {
        let folder = try TemporaryFolder()
        let cache = try folder.folder("c")
        let key = "c01a4429-4703-5b6a-8726-7982c1849d2a"
        try folder.file("c/\(key)", "bytes")
        let item =
            #"{"url":"https://a/b/1?x","key":"\#(key)","state":"cached","#
            + #""path":"\#(cache)/\#(key)","mediaType":"image/png"}"#
        let stub = try StubDaemon { call in
            call.contains("Where")
                ? [
                    #"{"parameters":{"directory":"\#(cache)","socket":"/s","version":"1","shared":false}}"#
                ]
                : [#"{"parameters":{"items":[\#(item)]}}"#]
        }
        let tree = "\(folder.path)/tree"
        let first = try Program.run(["link", tree, "--socket", stub.path])
        #expect(first.status == 0 && first.output == "linked 1 image in \(tree)\n")
        #expect(try folder.contents(of: "tree") == ["a", "a/b", "a/b/1?x.png"])
        let json = try Program.run(["link", "--json", tree, "--socket", stub.path])
        #expect(
            json.output == #"{"directory":"\#(tree)","linked":1,"removed":0,"failed":0}"# + "\n")
        #expect(try Program.run(["link", "/proc/1/x", "--socket", stub.path]).status == 74)
    }

    @Test func openGivesTheViewerALink() throws {
        let folder = try TemporaryFolder()
        let cache = try folder.folder("c")
        let key = "c01a4429-4703-5b6a-8726-7982c1849d2a"
        try folder.file("c/\(key)", "bytes")
        let item =
            #"{"url":"https://a/1","key":"\#(key)","state":"cached","#
            + #""path":"\#(cache)/\#(key)","mediaType":"image/jpeg"}"#
        let stub = try StubDaemon { call in
            call.contains("Where")
                ? [
                    #"{"parameters":{"directory":"\#(cache)","socket":"/s","version":"1","shared":false}}"#
                ]
                : [#"{"parameters":{"items":[\#(item)]}}"#]
        }
        let by = { (program: String, environment: [String: String]) in
            try Program.run(
                ["open", "--with", program, "https://a/1", "--socket", stub.path],
                environment: environment)
        }
        let runtime = ["XDG_RUNTIME_DIR": folder.path, "PATH": "/usr/bin:/bin"]
        let shown = try by("echo", runtime)
        #expect(shown.status == 0 && shown.output == "\(folder.path)/cachectl/a/1.jpg\n")
        #expect(try by("cat", runtime).output == "bytes")
        let failing = try by("false", runtime)
        #expect(failing.status == 1 && failing.errorOutput.contains("false did not open"))
        #expect(try by("/nonexistent", runtime).status == 1)
        let without = try Program.run(
            ["open", "https://a/1", "--socket", stub.path], environment: ["PATH": "/nonexistent"])
        #expect(without.status == 1 && without.errorOutput.contains("no program opens images"))
        // A folder that others can write to would let them choose what is opened.
        chmod("\(folder.path)/cachectl", 0o777)
        let refused = try by("echo", runtime)
        #expect(refused.status == 77 && refused.output == "")
    }
}
