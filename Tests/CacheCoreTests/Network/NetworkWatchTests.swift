import Glibc
import TestSupport
import Testing

@testable import CacheCore

@Suite("Network watch", .timeLimit(.minutes(5)))
struct NetworkWatchTests {
    private static let isPossible = geteuid() == 0 && access("/usr/sbin/ip", X_OK) == 0

    /// ip-address(8). The address is one for documentation (RFC 5737).
    @Test(.enabled(if: isPossible, "needs root and ip(8)"))
    func aNewAddressIsAChange() async throws {
        try await withTestScope { scope in
            let watch = NetworkWatch()
            let before = watch.takeChange()
            let address = ["198.51.100.77/32", "dev", "lo"]
            _ = try await runSuccessfully("ip", ["address", "add"] + address)
            scope.atEnd { _ = try await runSuccessfully("ip", ["address", "del"] + address) }
            var entry = pollfd(
                fd: watch.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
            #expect(poll(&entry, 1, 10_000) == 1)
            let changes = [before, watch.takeChange(), watch.takeChange()]
            #expect(changes == [false, true, false])
        }
    }
}
