import ArgumentParser
import Glibc
import Testing

@testable import CacheCore
@testable import cached

/// The settings that permit users to connect and to change the cache.
@Suite("Access", .timeLimit(.minutes(5)))
struct AccessTests {
    private func peer(user: uid_t, groups: Set<gid_t> = []) -> Peer {
        Peer(user: user, process: 1, groups: groups)
    }

    @Test func theOwnerAndRootAreManagers() throws {
        let managers = try Managers(owner: 1000)
        #expect(managers.include(peer(user: 1000)) && managers.isOwner(peer(user: 1000)))
        #expect(managers.include(peer(user: 0)) && !managers.isOwner(peer(user: 0)))
        #expect(!managers.include(peer(user: 1001, groups: [0, 1000])))
    }

    @Test func groupsAndUsersAreFoundByNameAndNumber() throws {
        let managers = try Managers(owner: 1000, names: ["root", "nobody", "54321"])
        #expect(managers.include(peer(user: 7, groups: [0])), "a group has the name root too")
        #expect(managers.include(peer(user: try #require(UserDatabase.user("nobody")))))
        #expect(managers.include(peer(user: 7, groups: [6, 54321])))
        #expect(!managers.include(peer(user: 54321)), "a number is a group")
    }

    @Test func anUnknownNameIsNamedInTheError() {
        let error = #expect(throws: StartFailure.self) {
            let options = try DaemonOptions.parse([
                "--directory", "/c", "--managers", "root", "--managers", "no-such-name",
            ])
            _ = try Settings.resolve(options, [:])
        }
        #expect(error?.message.contains("\"no-such-name\"") == true)
        #expect(error?.message.contains("CACHED_MANAGERS") == true)
        #expect(UserDatabase.group("no-such-name") == nil)
    }

    /// A directory that the daemon makes is open to those who may connect.
    @Test(
        arguments: [
            (0o600, 0o700), (0o660, 0o750), (0o666, 0o755), (0o644, 0o700), (0o602, 0o705),
        ] as [(mode_t, mode_t)])
    func theDirectoryIsAsOpenAsTheSocket(socket: mode_t, directory: mode_t) {
        #expect(Settings.directoryMode(socket) == directory)
    }

    @Test func peersOfASocketAreKnown() throws {
        var pair: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for end in pair { close(end) } }
        let home = Namespaces(of: "self")
        let peer = try #require(Peer(of: pair[0], home: home))
        #expect(!peer.isGuest)
        #expect(peer.user == geteuid() && peer.process == getpid())
        #expect(peer.groups.contains(getegid()))
        #expect(Peer(of: -1, home: home) == nil)
    }

    @Test func addressesOfUnixSocketsKeepTheirText() throws {
        let longest = "/" + String(repeating: "a", count: UnixAddress.longestPath - 1)
        #expect(UnixAddress(longest)?.text == longest)
        #expect(UnixAddress(longest + "a") == nil)
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        #expect(UnixAddress(of: descriptor) == nil, "it has no address")
        let name = "@cached-test-\(getpid())"
        let address = try #require(UnixAddress(name))
        #expect(address.withPointer { bind(descriptor, $0, $1) } == 0)
        #expect(UnixAddress(of: descriptor)?.text == name)
    }
}
