import CacheWire
import Testing

@Suite struct LookupTests {
    private let all = [
        "CACHED_SOCKET": "/env.sock", "XDG_RUNTIME_DIR": "/run/user/1000",
        "CACHE_DIRECTORY": "/env", "XDG_CACHE_HOME": "/xdg", "HOME": "/home/me",
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

    @Test func directoryIsFoundInTheSameOrder() {
        var environment = all
        #expect(DirectoryLookup.path(flag: "/f", environment: environment) == "/f")
        #expect(DirectoryLookup.path(flag: nil, environment: environment) == "/env")
        environment["CACHE_DIRECTORY"] = nil
        #expect(DirectoryLookup.path(flag: nil, environment: environment) == "/xdg/cached")
        environment["XDG_CACHE_HOME"] = "relative"
        let home = DirectoryLookup.path(flag: nil, environment: environment)
        #expect(home == "/home/me/.cache/cached")
        #expect(DirectoryLookup.path(flag: nil, environment: [:]) == nil)
    }
}
