import CacheWire
import Testing

@Suite struct LookupTests {
    private let all = [
        "CACHED_SOCKET": "/env.sock", "XDG_RUNTIME_DIR": "/run/user/1000",
        "CACHED_DIRECTORY": "/env", "XDG_CACHE_HOME": "/xdg", "HOME": "/home/me",
    ]

    @Test func flagPrecedesTheEnvironment() {
        #expect(SocketLookup.clientPaths(flag: "/f", environment: all) == ["/f"])
        #expect(SocketLookup.clientPaths(flag: nil, environment: all) == ["/env.sock"])
        #expect(SocketLookup.daemonPath(flag: "/f", environment: all) == "/f")
        #expect(SocketLookup.daemonPath(flag: nil, environment: all) == "/env.sock")
    }

    @Test func clientTriesTheUsersSocketThenTheSystemSocket() {
        let paths = SocketLookup.clientPaths(flag: nil, environment: ["XDG_RUNTIME_DIR": "/r"])
        #expect(paths == ["/r/cached/cached.sock", "/run/cached/cached.sock"])
        #expect(
            SocketLookup.daemonPath(flag: nil, environment: ["XDG_RUNTIME_DIR": "/r"])
                == "/r/cached/cached.sock")
    }

    @Test(arguments: [[:], ["XDG_RUNTIME_DIR": "relative"], ["CACHED_SOCKET": ""]])
    func relativeAndEmptyVariablesCountAsUnset(environment: [String: String]) {
        let paths = SocketLookup.clientPaths(flag: nil, environment: environment)
        #expect(paths == [SocketLookup.system])
        #expect(SocketLookup.daemonPath(flag: nil, environment: environment) == SocketLookup.system)
    }

    @Test func daemonTakesTheDirectoryOfTheServiceManager() {
        var environment = ["CACHE_DIRECTORY": "/c", "XDG_CACHE_HOME": "/xdg", "HOME": "/home/me"]
        #expect(DirectoryLookup.daemonPath(environment: environment) == "/c")
        environment["CACHE_DIRECTORY"] = ""
        #expect(DirectoryLookup.daemonPath(environment: environment) == "/xdg/cached")
        environment["XDG_CACHE_HOME"] = "relative"
        #expect(DirectoryLookup.daemonPath(environment: environment) == "/home/me/.cache/cached")
        #expect(DirectoryLookup.daemonPath(environment: [:]) == nil)
    }

    /// As the socket: the user's own if it exists, else that of the machine.
    @Test func clientFindsTheDirectoryOfTheDaemonThatItFinds() {
        let own = "/run/user/1000/cached/cached.sock"
        func path(_ existing: String..., environment: [String: String]? = nil) -> String? {
            let usual = ["XDG_RUNTIME_DIR": "/run/user/1000", "HOME": "/home/me"]
            return DirectoryLookup.clientPath(environment: environment ?? usual) {
                existing.contains($0)
            }
        }
        #expect(path() == "/home/me/.cache/cached")
        #expect(path(SocketLookup.system, DirectoryLookup.system) == DirectoryLookup.system)
        #expect(path(own, SocketLookup.system, DirectoryLookup.system) == "/home/me/.cache/cached")
        // A daemon of root without a runtime directory.
        #expect(path(SocketLookup.system) == "/home/me/.cache/cached")
        #expect(path(DirectoryLookup.system) == "/home/me/.cache/cached")
        #expect(path(environment: all) == "/env")
        // In a service, this is the directory of that service.
        #expect(path(environment: ["CACHE_DIRECTORY": "/c", "HOME": "/h"]) == "/h/.cache/cached")
    }
}
