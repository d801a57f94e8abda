// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

// For applications. It depends on no other package, so nothing is resolved from the network.
let package = Package(
    name: "CachedClient",
    products: [.library(name: "CachedClient", targets: ["CachedClient"])],
    targets: [
        .target(name: "CClient"),
        .target(name: "MediaTypes", swiftSettings: strict),
        .target(
            name: "ClientCore", dependencies: ["CClient", "MediaTypes"], swiftSettings: strict),
        .target(
            name: "CachedClient", dependencies: ["CClient", "ClientCore", "MediaTypes"],
            swiftSettings: strict),
    ]
)
