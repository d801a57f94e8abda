// swift-tools-version: 6.2
import Foundation
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

/// Swift's own modules of the C library cannot be imported with this, so only C is compiled with it.
let fortified: [CSetting] = [
    .define("_FORTIFY_SOURCE", to: "2", .when(configuration: .release))
]

let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

let package = Package(
    name: "cached",
    products: [
        .executable(name: "cached", targets: ["cached"]),
        .executable(name: "cachectl", targets: ["cachectl"]),
        .executable(name: "cached-deriver", targets: ["cached-deriver"]),
        .executable(name: "cached-gallery", targets: ["cached-gallery"]),
        .library(name: "CacheCore", targets: ["CacheCore"]),
        .library(name: "CacheKey", targets: ["CacheKey"]),
        .library(name: "CachedClient", targets: ["CachedClient"]),
        .library(name: "CacheWire", targets: ["CacheWire"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    ],
    targets: [
        // System libraries and headers that Swift does not import by itself.
        .target(name: "CLinux", cSettings: fortified),
        .target(name: "CCrypto", cSettings: fortified),
        .target(name: "CClient", cSettings: fortified),
        .systemLibrary(name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),

        // The product, in reading order.
        .target(name: "CacheKey", dependencies: ["CCrypto"], swiftSettings: strict),
        // The formats, for the cache and for its clients.
        .target(name: "MediaTypes", swiftSettings: strict),
        // What a client needs, without Foundation and threads; Sources/libcached makes a C library of it.
        .target(
            name: "ClientCore", dependencies: ["CClient", "MediaTypes"], swiftSettings: strict),
        .target(
            name: "CacheWire", dependencies: ["CClient", "ClientCore"],
            swiftSettings: strict),
        // The Swift library for applications, which is also a package of its own.
        .target(
            name: "CachedClient", dependencies: ["CClient", "ClientCore", "MediaTypes"],
            path: "clients/CachedClient/Sources/CachedClient", swiftSettings: strict),
        .target(name: "ImageFormats", dependencies: ["MediaTypes"], swiftSettings: strict),
        // Values and rules without I/O: .ci/lint checks what they import.
        .target(
            name: "CacheValues", dependencies: ["CCrypto", "CacheKey", "ImageFormats"],
            swiftSettings: strict),
        // The model in three layers, each of which knows those above it here: the disk half, the fetching half, the seam.
        .target(
            name: "CacheDisk", dependencies: ["CacheKey", "CacheValues", "ImageFormats"],
            swiftSettings: strict),
        .target(
            name: "CacheFetching",
            dependencies: ["CacheDisk", "CacheKey", "CacheValues", "ImageFormats"],
            swiftSettings: strict),
        .target(
            name: "CacheModel",
            dependencies: ["CacheDisk", "CacheFetching", "CacheKey", "CacheValues"],
            swiftSettings: strict),
        .target(
            name: "HTTPCaching", dependencies: ["CacheKey", "CacheValues", "ImageFormats"],
            swiftSettings: strict),
        .target(
            name: "CacheCore",
            dependencies: [
                "CCurl", "CLinux", "CacheDisk", "CacheFetching", "CacheKey",
                "CacheModel", "CacheValues", "HTTPCaching", "ImageFormats", logging, system,
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "cached",
            dependencies: [
                "CacheCore", "CacheDisk", "CacheFetching", "CacheKey", "CacheValues", "CacheWire",
                "CClient", "ClientCore",
                "CLinux", "HTTPCaching", "ImageFormats", arguments, logging, nioCore, nioPosix,
                system,
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "cachectl",
            dependencies: [
                "CLinux", "CacheKey", "CacheValues", "CacheWire", "HTTPCaching",
                "ImageFormats", "MediaTypes",
                arguments,
            ],
            swiftSettings: strict),
        // Derives smaller images, confined and in C alone.
        .executableTarget(
            name: "cached-deriver", dependencies: ["CLinux", "CVips"], cSettings: fortified,
            // Swift's runtime would be linked too, although nothing uses it.
            linkerSettings: [.unsafeFlags(["-nostartfiles", "-static-stdlib"])]),
        // The page in the browser, whose files CGalleryPage embeds, and signed URLs for programs that speak HTTP.
        .target(name: "CGalleryPage"),
        .executableTarget(
            name: "cached-gallery",
            dependencies: [
                "CCrypto", "CGalleryPage", "CLinux", "CacheWire", "ClientCore", "MediaTypes",
                arguments, nioCore, nioHTTP1, nioPosix,
            ],
            exclude: ["Page"], swiftSettings: strict),

        // Support for tests: origins, certificates, child processes, the built daemon.
        .target(name: "CTestSupport", path: "Tests/CSupport"),
        .target(
            name: "TestSupport", dependencies: ["CTestSupport"], path: "Tests/Support",
            swiftSettings: strict),
        .testTarget(
            name: "TestSupportTests", dependencies: ["TestSupport"], swiftSettings: strict),
        // Images of every format, made byte by byte or by the reference encoders.
        .target(
            name: "ImageSamples", dependencies: ["ImageFormats", "TestSupport"],
            path: "Tests/ImageSamples", swiftSettings: strict),
        .testTarget(
            name: "ImageFormatsTests",
            dependencies: ["ImageFormats", "ImageSamples", "TestSupport"],
            swiftSettings: strict),
        // Values for tests that do not depend on them.
        .target(
            name: "CacheSamples", dependencies: ["CacheKey", "CacheValues", "ImageFormats"],
            path: "Tests/CacheSamples", swiftSettings: strict),
        .testTarget(
            name: "CacheModelTests",
            dependencies: [
                "CacheDisk", "CacheFetching", "CacheKey", "CacheModel", "CacheSamples",
                "CacheValues", "HitRatio", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HTTPCachingTests",
            dependencies: [
                "CacheKey", "CacheValues", "HTTPCaching", "ImageFormats", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CacheCoreTests",
            dependencies: [
                "CacheCore", "CacheDisk", "CacheFetching", "CacheKey", "CacheModel", "CacheSamples",
                "CacheValues", "CLinux",
                "HTTPCaching", "ImageFormats", "ImageSamples", "TestSupport", logging, system,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "cachedTests",
            dependencies: [
                "cached", "CacheCore", "CacheFetching", "CacheKey", "CacheValues",
                "CacheWire",
                "HTTPCaching", "ImageFormats", "TestSupport", arguments, logging, nioCore, nioPosix,
            ],
            swiftSettings: strict),

        // The built programs with each other, third-party clients and real servers.
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "CachedClient", "CacheKey", "CacheWire", "CTestSupport", "ImageFormats",
                "ImageSamples", "StubDaemon", "TestSupport",
            ],
            exclude: ["Browser", "Screens", "ThirdParty"], swiftSettings: strict),
        // The promises of the cache under kills, power cuts, faults and foreign files.
        .testTarget(
            name: "TortureTests",
            dependencies: ["TestSupport", "CacheKey", "CacheWire", "CLinux"],
            swiftSettings: strict),

        // The load generator behind `make bench`.
        .executableTarget(
            name: "cached-bench",
            dependencies: ["CLinux", arguments, nioCore, nioPosix],
            path: "Benchmarks/LoadGenerator", swiftSettings: strict),
        // Requests replayed through the index and through models of other caches, for `make hit-ratio`.
        .target(
            name: "HitRatio",
            dependencies: ["CacheDisk", "CacheKey", "CacheValues", "ImageFormats"],
            path: "Benchmarks/HitRatio", swiftSettings: strict),
        // Synthetic entries in memory and on disk, also for `make bench`.
        .executableTarget(
            name: "cached-entries",
            dependencies: [
                "CacheDisk", "CacheKey", "CacheValues", "CLinux", "HitRatio", "HTTPCaching",
                "ImageFormats", arguments,
            ],
            path: "Benchmarks/Entries", swiftSettings: strict),
        // Tests of the smaller targets, and a scripted daemon for the clients' tests.
        .target(
            name: "StubDaemon", dependencies: ["CTestSupport"], path: "Tests/StubDaemon",
            swiftSettings: strict),
        .testTarget(name: "CacheKeyTests", dependencies: ["CacheKey"], swiftSettings: strict),
        .testTarget(
            name: "ClientCoreTests",
            dependencies: [
                "CTestSupport", "CacheFetching", "CacheKey", "CacheValues", "CacheWire",
                "ClientCore", "HTTPCaching", "ImageFormats", "StubDaemon", "TestSupport",
            ],
            exclude: ["Embedded"], swiftSettings: strict),
        .testTarget(
            name: "CacheWireTests", dependencies: ["CacheWire", "StubDaemon", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "cachectlTests",
            dependencies: ["cachectl", "CacheWire", "StubDaemon", arguments],
            exclude: ["Screens"], swiftSettings: strict),
    ]
)

// The source archive of `make dist` has every package in vendor/, so that it builds without a network.
let vendor = Context.packageDirectory + "/vendor"
if FileManager.default.fileExists(atPath: vendor) {
    let names = try FileManager.default.contentsOfDirectory(atPath: vendor).sorted()
    package.dependencies = names.map { .package(path: "vendor/\($0)") }
}

// Run by libFuzzer. Only Tests/Fuzzer/run builds it: its main function comes with `-sanitize=fuzzer`.
if Context.environment["CACHED_FUZZER"] != nil {
    package.targets.append(
        .executableTarget(
            name: "cached-fuzzer",
            dependencies: [
                "CacheDisk", "CacheKey", "CacheValues", "CacheWire", "HTTPCaching", "ImageFormats",
                nioCore,
            ],
            path: "Tests/Fuzzer", exclude: ["run", "seeds"], swiftSettings: strict))
}
