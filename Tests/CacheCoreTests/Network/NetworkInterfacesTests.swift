import Glibc
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

@Suite("Network interfaces", .timeLimit(.minutes(5)))
struct NetworkInterfacesTests {
    private static let up = UInt32(IFF_UP | IFF_RUNNING)

    @Test(arguments: [
        ("192.168.1.7", up, true), ("2001:db8::1", up, true),
        ("192.168.1.7", UInt32(IFF_UP), false),
        ("127.0.0.1", up | UInt32(IFF_LOOPBACK), false), ("169.254.3.4", up, false),
        ("fe80::1", up, false),
    ])
    func tellsWhetherAnInterfaceLeadsToOtherMachines(text: String, flags: UInt32, expected: Bool)
        throws
    {
        let address = try #require(IPAddress(text))
        #expect(NetworkInterfaces.leadsOut(flags, address) == expected)
    }
}
