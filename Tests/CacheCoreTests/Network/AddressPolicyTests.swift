import CacheKey
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

@Suite("Address policy", .timeLimit(.minutes(5)))
struct AddressPolicyTests {
    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1",
        "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.8",
        "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255",
        "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1",
        "255.255.255.255", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.1.2.3",
        "::ffff:169.254.169.254", "::ffff:0:127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::7f00:1",
        "64:ff9b:1::1", "100::1", "2001::1", "2001:1ff::1", "2001:db8::1", "2002:7f00:1::1",
        "3fff::1", "4000::1", "5f00::1", "8000::1", "fc00::1", "fd12:3456::1", "fe80::1",
        "fec0::1", "ff02::1",
    ])
    func refusesAddressesOutsideThePublicInternet(address: String) throws {
        #expect(!AddressPolicy().permits(try #require(IPAddress(address))))
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
        "126.255.255.255", "128.0.0.1", "169.253.255.255", "172.15.255.255", "172.32.0.0",
        "192.0.1.1", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
        "223.255.255.255", "2001:200::1", "2001:4860:4860::8888", "2003::1", "2606:4700::1111",
        "2a00:1450::1", "3ffe::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
    ])
    func permitsThePublicInternet(address: String) throws {
        #expect(AddressPolicy().permits(try #require(IPAddress(address))))
    }

    @Test func refusesPortsOfOtherProtocols() throws {
        let address = try #require(IPAddress("8.8.8.8"))
        for port: UInt16 in [0, 1, 25, 53, 6000, 6667, 10080] {
            #expect(!AddressPolicy().permits(address, port: port), "\(port)")
        }
        for port: UInt16 in [80, 443, 3000, 8080, 8443, 9000, 65535] {
            #expect(AddressPolicy().permits(address, port: port), "\(port)")
        }
        let policy = AddressPolicy(allowing: try ranges("8.8.8.8"))
        #expect(policy.permits(address, port: 25))
    }

    @Test func permitsAllowedAddressesInEverySpelling() throws {
        let policy = AddressPolicy(allowing: try ranges("127.0.0.0/8", "fd00::/8", "10.1.2.3"))
        for allowed in ["127.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fd12::1", "10.1.2.3"] {
            #expect(policy.permits(try #require(IPAddress(allowed))), "\(allowed)")
        }
        for refused in ["10.1.2.4", "::1", "fc00::1", "192.168.0.1"] {
            #expect(!policy.permits(try #require(IPAddress(refused))), "\(refused)")
        }
    }

    @Test(arguments: [
        "localhost", "LocalHost.", "a.localhost", "intranet", "printer.local", "x.internal",
        "nas.home.arpa", "127.1", "0x7f000001", "10.0.0.1", "192.168.1.1.", "[::1]", "[fd00::1]",
        "[::ffff:10.0.0.1]", "[odd",
    ])
    func someNamesMeanAnotherHostOnAnotherNetwork(host: String) {
        #expect(AddressPolicy.isLocal(host: host))
    }

    @Test(arguments: [
        "example.com", "example.com.", "local.example", "8.8.8.8", "[2606:4700::1111]",
        "internal.example.org", "arpa.example",
    ])
    func otherNamesMeanOneHostEverywhere(host: String) {
        #expect(!AddressPolicy.isLocal(host: host))
    }

    @Test func aRangeOfAllAddressesCoversOneFamily() throws {
        let policy = AddressPolicy(allowing: try ranges("0.0.0.0/0"))
        #expect(policy.permits(try #require(IPAddress("192.168.0.1"))))
        #expect(!policy.permits(try #require(IPAddress("::1"))))
    }

    @Test(arguments: [
        "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-0", "10.0.0.0/+8", "10.0.0.0/8/8",
        "10.0.0/8", "010.0.0.0/8", "localhost", "::/129", "10.0.0.0/ 8", "10.0.0.0/٨",
        "1.2.3.4.5", "fe80::1%eth0",
    ])
    func refusesInvalidRanges(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test(arguments: ["10.0.0.0/8", "::/0", "1.2.3.4/32", "fe80::/10"])
    func printsRangesAsTheyWereWritten(text: String) throws {
        #expect(try #require(AddressRange(text)).description == text)
    }

    @Test func aSingleAddressIsARangeOfOne() throws {
        #expect(AddressRange("10.0.0.1") == AddressRange("10.0.0.1/32"))
        #expect(AddressRange("::1") == AddressRange("::1/128"))
    }

    /// IPv4 addresses inside IPv6 ones are compared as IPv4 addresses.
    @Test func aRangeOfEmbeddedIPv4AddressesIsAnIPv4Range() {
        #expect(AddressRange("::ffff:127.0.0.0/104") == AddressRange("127.0.0.0/8"))
        #expect(AddressRange("64:ff9b::/96") == AddressRange("0.0.0.0/0"))
        #expect(AddressRange("::ffff:127.0.0.1") == AddressRange("127.0.0.1"))
        #expect(AddressRange("64:ff9b::/64")?.description == "64:ff9b::/64")
    }

    /// A service there can rely on the caller being local, as one on the loopback can.
    @Test func anAddressOfThisMachineIsRefusedUnlessItIsAllowed() throws {
        let own = [try #require(IPAddress("192.33.4.12")), try #require(IPAddress("2a00::53"))]
        let usual = AddressPolicy(allowing: []) { own.contains($0) }
        let allowing = AddressPolicy(allowing: try ranges("192.33.4.12", "2a00::/64")) {
            own.contains($0)
        }
        for text in ["192.33.4.12", "::ffff:192.33.4.12", "64:ff9b::c021:40c", "2a00::53"] {
            let address = try #require(IPAddress(text))
            #expect(!usual.permits(address), "\(text)")
            #expect(allowing.permits(address), "\(text)")
        }
        #expect(usual.permits(try #require(IPAddress("192.33.4.13"))))
        #expect(NetworkInterfaces.have(try #require(IPAddress("127.0.0.1"))))
        #expect(!NetworkInterfaces.have(try #require(IPAddress("192.33.4.12"))))
    }

    private func ranges(_ texts: String...) throws -> [AddressRange] {
        try texts.map { try #require(AddressRange($0)) }
    }
}
