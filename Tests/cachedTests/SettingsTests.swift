import ArgumentParser
import CacheValues
import CacheWire
import Glibc
import HTTPCaching
import Logging
import TestSupport
import Testing

@testable import CacheCore
@testable import cached

@Suite("Settings", .timeLimit(.minutes(5)))
struct SettingsTests {
    @Test func unsetSettingsHaveTheirDefaults() async throws {
        let settings = try await resolve([], ["HOME": "/home/x", "XDG_RUNTIME_DIR": "/run/user/1"])
        #expect(settings.cache.directory == "/home/x/.cache/cached")
        #expect(settings.socket == "/run/user/1/cached/cached.sock")
        #expect(settings.socketMode == 0o600)
        #expect(settings.log == LogSettings())
        #expect(settings.cache.limits.maximumImageSize == 64 << 20)
        #expect(!settings.cache.transfers.acceptsAnything)
        #expect(!settings.cache.transfers.acceptsSVG)
        #expect(settings.cache.transfers.userAgent == "cached/\(Version.current)")
    }

    @Test func theCacheIsSharedOnTheSystemsSocket() async throws {
        #expect(try await !isShared([], ["HOME": "/h", "XDG_RUNTIME_DIR": "/run/user/1"]))
        #expect(try await isShared([], ["HOME": "/h"]))
        #expect(try await isShared(["--socket", "/run/cached/cached.sock"], ["HOME": "/h"]))
        // Another path of the same socket.
        #expect(try await isShared(["--socket", "/var/run/cached/cached.sock"], ["HOME": "/h"]))
        #expect(try await isShared(["--socket", "//run/cached/other.sock"], ["HOME": "/h"]))
        #expect(try await !isShared(["--socket", "/run/cached.sock"], ["HOME": "/h"]))
        #expect(try await !isShared(["--socket", "/tmp/cached/cached.sock"], ["HOME": "/h"]))
        let own = ["HOME": "/h", "XDG_RUNTIME_DIR": "/r"]
        #expect(try await isShared(["--socket-mode", "660"], own))
        #expect(try await isShared(["--socket-group", "0"], own))
        #expect(try await !isShared(["--socket-mode", "644"], own), "they cannot connect")
        #expect(try await isShared(["--shared", "yes"], ["HOME": "/h", "XDG_RUNTIME_DIR": "/r"]))
        #expect(try await !isShared([], ["HOME": "/h", "CACHED_SHARED": "no"]))
    }

    private func isShared(
        _ options: [String], _ environment: [String: String]
    ) async throws -> Bool {
        try await resolve(options, environment).cache.transfers.caching.isShared
    }

    @Test func failedDownloadsAreRetriedAsConfigured() async throws {
        let usual = try await resolve([], ["HOME": "/h"]).cache.retry
        #expect(usual.attempts == 4)
        let environment = ["HOME": "/h", "CACHED_ATTEMPTS": "2"]
        let other = try await resolve(["--attempts", "1"], environment).cache.retry
        #expect(other.attempts == 1)
    }

    @Test func optionsOverrideTheEnvironmentWhichOverridesTheFile() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write(
                """
                # The file.
                CACHED_SOCKET=/file
                CACHED_SOCKET_MODE=640

                CACHED_MAX_IMAGE_BYTES=3MiB
                CACHED_LOG_LEVEL=error
                """, to: "cached.conf")
            let environment = [
                "HOME": "/h", "CACHED_SOCKET": "/environment", "CACHED_MAX_IMAGE_BYTES": "2MiB",
            ]
            let fromFile = try await resolve(["--config", file], ["HOME": "/h"])
            #expect(fromFile.socket == "/file")
            #expect(fromFile.socketMode == 0o640)
            #expect(fromFile.cache.limits.maximumImageSize == 3 << 20)
            #expect(fromFile.log.level == .error)
            let mixed = try await resolve(["--config", file], environment)
            #expect(mixed.socket == "/environment")
            #expect(mixed.cache.limits.maximumImageSize == 2 << 20)
            #expect(mixed.socketMode == 0o640)
            let options = ["--socket", "/option", "--max-image-bytes", "1MiB"]
            let highest = try await resolve(["--config", file] + options, environment)
            #expect(highest.socket == "/option")
            #expect(highest.cache.limits.maximumImageSize == 1 << 20)
        }
    }

    @Test func theFileInTheUsualPlaceIsUsed() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            try home.directory("cached")
            try home.write("CACHED_LOG_LEVEL=debug\n", to: "cached/cached.conf")
            let found = try await resolve([], ["HOME": "/h", "XDG_CONFIG_HOME": home.path])
            #expect(found.log.level == .debug)
        }
    }

    @Test func listsAreSeparatedByCommas() async throws {
        let settings = try await resolve(
            [],
            ["HOME": "/h", "CACHED_ALLOW_NETWORK": "127.0.0.0/8, fd00::/8", "CACHED_ACCEPT": "svg"])
        let policy = settings.cache.transfers.addressPolicy
        #expect(policy.permits(try #require(IPAddress("127.0.0.1"))))
        #expect(policy.permits(try #require(IPAddress("fd00::1"))))
        #expect(!policy.permits(try #require(IPAddress("10.0.0.1"))))
        #expect(settings.cache.transfers.acceptsSVG)
        let repeated = try await resolve(
            ["--allow-network", "10.0.0.0/8", "--allow-network", "::1", "--accept", "svg,any"],
            ["HOME": "/h", "CACHED_ALLOW_NETWORK": "127.0.0.0/8"])
        let other = repeated.cache.transfers.addressPolicy
        #expect(other.permits(try #require(IPAddress("10.0.0.1"))))
        #expect(other.permits(try #require(IPAddress("::1"))))
        #expect(!other.permits(try #require(IPAddress("127.0.0.1"))))
        #expect(repeated.cache.transfers.acceptsAnything)
    }

    @Test func theFileOfCertificatesHasToExist() async throws {
        await #expect(throws: StartFailure.self) {
            try await resolve(["--ca-file", "/nonexistent"], ["HOME": "/h"])
        }
    }

    @Test func theUserAgentNamesTheContact() async throws {
        let bare = try await resolve([], ["HOME": "/h"]).cache.transfers
        #expect(!bare.hasContact)
        let contact = ["HOME": "/h", "CACHED_CONTACT": "https://example.org/bot"]
        let named = try await resolve([], contact).cache.transfers
        #expect(named.hasContact)
        #expect(named.userAgent == "cached/\(Version.current) (+https://example.org/bot)")
        let whole = try await resolve(["--user-agent", "Tuba/1.0"], contact).cache.transfers
        #expect(whole.hasContact)
        #expect(whole.userAgent == "Tuba/1.0")
        let failure = try await failure(["--contact", "a\nb"], ["HOME": "/h"])
        #expect(failure.message.contains("printable characters"))
    }

    @Test func certificatesAreTrustedAloneOnlyIfThereAreAny() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let options = ["--ca-file", authority.certificate]
            let added = try await resolve(options, ["HOME": "/h"]).cache.transfers
            #expect(!added.trustsOnlyCertificateFile)
            let alone = try await resolve(options + ["--ca-only", "yes"], ["HOME": "/h"])
            #expect(alone.cache.transfers.trustsOnlyCertificateFile)
            let failure = try await failure(["--ca-only", "yes"], ["HOME": "/h"])
            #expect(failure.message.contains("--ca-file"))
        }
    }

    @Test func headersAreBesideTheConfiguration() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write("", to: "my.conf")
            let named = try await resolve(["--config", file], ["HOME": "/h"])
            #expect(named.headers == home.file("headers.d"))
            #expect(
                try await resolve([], ["HOME": home.path]).headers
                    == home.file(".config/cached/headers.d"))
        }
    }

    @Test func aProxyOfTheEnvironmentThatIsNotUsedIsNoticed() async throws {
        let environment = ["HOME": "/h", "https_proxy": "http://p:1", "all_proxy": ""]
        #expect(try await resolve([], environment).unusedProxies == ["https_proxy"])
        #expect(try await resolve(["--proxy", "http://p:1"], environment).unusedProxies == [])
    }

    @Test func downloadLimitsAreApplied() async throws {
        let usual = try await resolve([], ["HOME": "/h"]).cache.transfers
        #expect(usual.transferLimit == 64)
        #expect(usual.transfersPerHost == 6)
        #expect(usual.maximumRate == nil)
        let set = try await resolve(
            ["--max-transfers-per-host", "3", "--max-rate", "2MB"],
            ["HOME": "/h", "CACHED_MAX_TRANSFERS": "12", "CACHED_MAX_RATE": "1MB"]
        ).cache.transfers
        #expect(set.transferLimit == 12)
        #expect(set.transfersPerHost == 3)
        #expect(set.maximumRate == 2_000_000)
    }

    @Test(arguments: [
        ("CACHED_SOCKET_MODE", "999"), ("CACHED_SOCKET_MODE", "1777"),
        ("CACHED_LOG_LEVEL", "loud"), ("CACHED_MAX_IMAGE_BYTES", "0"),
        ("CACHED_MAX_IMAGE_BYTES", "much"), ("CACHED_MAX_PIXELS", "0"),
        ("CACHED_MAX_PIXELS", "1e9"),
        ("CACHED_ALLOW_NETWORK", "localhost"),
        ("CACHED_ACCEPT", "html"), ("CACHED_MAX_TRANSFERS", "0"), ("CACHED_MAX_TRANSFERS", "1001"),
        ("CACHED_MAX_TRANSFERS_PER_HOST", "some"), ("CACHED_MAX_RATE", "0"),
        ("CACHED_SHARED", "true"), ("CACHED_ATTEMPTS", "0"),
        ("CACHED_ATTEMPTS", "many"), ("CACHED_PRESSURE_EVICTS", "yes"),
        ("CACHED_DEFAULT_FRESHNESS", "60x"), ("CACHED_DEFAULT_FRESHNESS", "1500ms"),
        ("CACHED_STALE_IF_ERROR", "1w"),
    ])
    func aWrongValueIsAnErrorThatNamesIt(name: String, value: String) async throws {
        let failure = try await failure([], ["HOME": "/h", name: value])
        #expect(failure.exitCode == .configuration)
        #expect(failure.message.contains(name))
        #expect(failure.message.contains("\"\(value)\""))
    }

    @Test func freshnessTakesWholeSecondsOnly() async throws {
        let usual = try await resolve([], ["HOME": "/h"]).cache.transfers.caching
        #expect(usual.unknownLifetime == 3600)
        #expect(usual.staleIfError == 86400)
        let set = try await resolve(
            ["--default-freshness", "2000ms"], ["HOME": "/h", "CACHED_STALE_IF_ERROR": "0s"]
        ).cache.transfers.caching
        #expect(set.unknownLifetime == 2)
        #expect(set.staleIfError == 0)
    }

    @Test func theExamplesForAWrongTimeArePermitted() async throws {
        for (name, wrong, right) in [
            ("CACHED_MAX_UNUSED", "500ms", "from 1s on, such as 30s or 10min"),
            ("CACHED_IDLE_EXIT", "soon", "from 1ms on, such as 500ms or 30s"),
            ("CACHED_STORE_TIMEOUT", "10min", "from 10ms to 1min, such as 500ms or 30s"),
        ] {
            let failure = try await failure([], ["HOME": "/h", name: wrong])
            #expect(failure.message.contains("is \"\(wrong)\", not a time \(right)"))
        }
    }

    @Test func anUnknownNameIsAnErrorThatSuggestsTheNearest() async throws {
        let failure = try await failure([], ["HOME": "/h", "CACHED_LOGLEVEL": "debug"])
        #expect(failure.exitCode == .configuration)
        #expect(failure.message.contains("CACHED_LOGLEVEL"))
        #expect(failure.message.contains("CACHED_LOG_LEVEL"))
        try await withTestScope { scope in
            let file = try TemporaryDirectory(in: scope).write(
                "# comment\n\n  CACHED_ALOW_NETWORK=::1\n", to: "cached.conf")
            let failure = try await self.failure(["--config", file], ["HOME": "/h"])
            #expect(failure.message.hasPrefix("\(file):3 sets CACHED_ALOW_NETWORK"))
            #expect(failure.message.contains("CACHED_ALLOW_NETWORK"))
        }
    }

    @Test(arguments: ["max-bytes = 5GiB", "export CACHED_ATTEMPTS=2", "max_bytes=1", "=", "yes"])
    func aLineThatIsNotASettingIsAnErrorThatNamesIt(line: String) async throws {
        try await withTestScope { scope in
            let file = try TemporaryDirectory(in: scope).write(
                "; comment\nCACHED_ATTEMPTS=3\nPATH=/bin\n \(line)\n", to: "cached.conf")
            let failure = try await self.failure(["--config", file], ["HOME": "/h"])
            #expect(failure.exitCode == .configuration)
            #expect(failure.message.hasPrefix("\(file):4: \"\(line)\" is not NAME=value"))
        }
    }

    @Test func linesCanHaveDOSEndsAndValuesCanBeQuoted() async throws {
        try await withTestScope { scope in
            let file = try TemporaryDirectory(in: scope).write(
                "# comment\r\nCACHED_MAX_BYTES=5MiB\r\nCACHED_ATTEMPTS=\"2\"\r\n"
                    + "CACHED_DIRECTORY='/a b'\r\n", to: "cached.conf")
            let settings = try await resolve(["--config", file], ["HOME": "/h"])
            #expect(settings.cache.limits.maximumBytes == 5 << 20)
            #expect(settings.cache.retry.attempts == 2)
            #expect(settings.cache.directory == "/a b")
            #expect(settings.files == [file])
        }
    }

    @Test func anEmptyValueCountsAsNotSet() async throws {
        try await withTestScope { scope in
            // With the byte order mark that some editors add.
            let file = try TemporaryDirectory(in: scope).write(
                "\u{FEFF}CACHED_MAX_BYTES=2GiB\nCACHED_SHARED=yes\n", to: "cached.conf")
            let environment = ["HOME": "/h", "CACHED_MAX_BYTES": "", "CACHED_SHARED": ""]
            let settings = try await resolve(["--config", file], environment)
            #expect(settings.cache.limits.maximumBytes == 2 << 30)
            #expect(settings.cache.transfers.caching.isShared)
        }
    }

    @Test(arguments: [[0x35, 0, 0x47], [0x35, 0xFF]] as [[UInt8]])
    func aFileThatIsNotTextIsAnError(value: [UInt8]) async throws {
        try await withTestScope { scope in
            let file = try TemporaryDirectory(in: scope).write(
                Array("# ü\nCACHED_MAX_BYTES=".utf8) + value, to: "cached.conf")
            let failure = try await self.failure(["--config", file], ["HOME": "/h"])
            #expect(failure.exitCode == .configuration)
            #expect(failure.message.hasSuffix("(see line 2)"))
        }
    }

    @Test func severalDirectoriesAreAnError() async throws {
        let failure = try await failure([], ["HOME": "/h", "CACHE_DIRECTORY": "/a:/b"])
        #expect(failure.exitCode == .configuration)
        #expect(failure.message.contains("/a:/b"))
    }

    /// systemd sets the variable for units with `CacheDirectory=`.
    @Test func aSettingWinsOverTheDirectoryOfTheServiceManager() async throws {
        let environment = ["HOME": "/h", "CACHE_DIRECTORY": "/var/cache/cached"]
        #expect(try await resolve([], environment).cache.directory == "/var/cache/cached")
        try await withTestScope { scope in
            let file = try TemporaryDirectory(in: scope)
                .write("CACHED_DIRECTORY=/srv/images\n", to: "cached.conf")
            let settings = try await resolve(["--config", file], environment)
            #expect(settings.cache.directory == "/srv/images")
        }
    }

    @Test func aRelativeDirectoryIsAnError() async throws {
        let failure = try await failure(["--directory", "here"], ["HOME": "/h"])
        #expect(failure.exitCode == .configuration)
        #expect(failure.message.contains("here") && failure.message.contains("--directory"))
    }

    /// A FIFO can be without a writer.
    @Test func aFIFOIsAnErrorAndDoesNotBlock() async throws {
        try await withTestScope { scope in
            let path = try TemporaryDirectory(in: scope).path + "/cached.conf"
            try #require(mkfifo(path, 0o600) == 0)
            let failure = try await self.failure(["--config", path], ["HOME": "/h"])
            #expect(failure.message.contains("\(path) is not a regular file"))
        }
    }

    @Test func aFileWithoutCertificatesIsAnError() async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope)
            let file = try directory.write("no certificate\n", to: "ca.pem")
            for path in [file, directory.path] {
                let failure = try await self.failure(["--ca-file", path], ["HOME": "/h"])
                #expect(failure.exitCode == .configuration)
                #expect(failure.message.contains("\"\(path)\", not a file of certificates"))
            }
        }
    }

    @Test(arguments: [
        "http://host:abc", "http://127.0.0.1:99999", "http://host:0", "http://[::1", "http://",
        "http://host/", "socks4://host", "http://a b",
    ])
    func anImpossibleProxyIsAnError(text: String) async throws {
        let failure = try await failure(["--proxy", text], ["HOME": "/h"])
        #expect(failure.exitCode == .configuration)
        #expect(failure.message.contains("\"\(text)\", not a proxy"))
    }

    @Test(arguments: [
        "http://host", "https://host:3128", "socks5://host:1080", "socks5h://host:9050",
        "http://[::1]:1", "http://10.0.0.1:65535",
    ])
    func aProxyHasAHostAndCanHaveAPort(text: String) async throws {
        let settings = try await resolve(["--proxy", text], ["HOME": "/h"])
        #expect(settings.cache.transfers.proxy?.url == text)
    }

    @Test func theErrorDoesNotShowTheProxysPassword() async throws {
        let failure = try await failure(["--proxy", "http://u:secret@host:1"], ["HOME": "/h"])
        #expect(failure.message.contains("…@host:1") && !failure.message.contains("secret"))
    }

    @Test func aDirectoryInThePlaceOfTheFileIsAnError() async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope).path
            let failure = try await self.failure(["--config", directory], ["HOME": "/h"])
            #expect(failure.exitCode == .configuration)
            #expect(failure.message.contains("\(directory) is not a regular file"))
        }
    }

    /// A loop of links stands for a directory that may not be searched, because root may search all of them.
    @Test func aUsualPlaceThatCannotBeSearchedIsAnError() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope).path
            try #require(symlink("loop", "\(home)/loop") == 0)
            let environment = ["HOME": "/h", "XDG_CONFIG_HOME": "\(home)/loop"]
            let failure = try await self.failure([], environment)
            #expect(failure.exitCode == .configuration)
            #expect(failure.message.contains("\(home)/loop/cached/cached.conf"))
        }
    }

    @Test func aNamedFileThatIsMissingIsAnError() async throws {
        let failure = try await failure(["--config", "/nonexistent/x"], ["HOME": "/h"])
        #expect(failure.exitCode == .configuration)
        #expect(failure.message.contains("/nonexistent/x"))
    }

    @Test func withoutAHomeTheDirectoryHasToBeNamed() async throws {
        #expect(try await failure([], [:]).message.contains("--directory"))
    }

    @Test(arguments: [
        ("CACHED_SOKET", "CACHED_SOCKET"), ("CACHED_SOCKETMODE", "CACHED_SOCKET_MODE"),
        ("CACHED_ALLOW_NETWORKS", "CACHED_ALLOW_NETWORK"), ("CACHED_ACCEPTS", "CACHED_ACCEPT"),
        ("CACHED_MAX_BITES", "CACHED_MAX_BYTES"),
        ("CACHED_MAX_IMAGE_BYTE", "CACHED_MAX_IMAGE_BYTES"),
        ("CACHED_CAFILE", "CACHED_CA_FILE"),
        ("CACHED_LOG_LVL", "CACHED_LOG_LEVEL"),
    ])
    func theSuggestedNameHasTheFewestEdits(name: String, nearest: String) {
        #expect(Setting.nearest(to: name) == nearest)
    }

    @Test func onlyNamesWithOurPrefixAreUnknown() {
        let names = [
            "CACHED_X", "PATH", "CACHED_DIRECTORY", "CACHED_SOCKET", "CACHED_A", "XCACHED_",
        ]
        #expect(names.filter(Setting.isUnknown) == ["CACHED_X", "CACHED_A"])
        #expect(Setting.all.map(\.name).filter(Setting.isUnknown) == [])
    }

    private func resolve(
        _ arguments: [String], _ environment: [String: String]
    ) async throws -> Settings {
        try Settings.resolve(DaemonOptions.parse(arguments), environment)
    }

    private func failure(
        _ arguments: [String], _ environment: [String: String]
    ) async throws -> StartFailure {
        try #require(
            await #expect(throws: StartFailure.self) {
                _ = try await resolve(arguments, environment)
            })
    }
}
