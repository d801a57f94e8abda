// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "load-images",
    dependencies: [.package(path: "../../clients/CachedClient")],
    targets: [
        .executableTarget(
            name: "load-images",
            dependencies: [.product(name: "CachedClient", package: "CachedClient")], path: ".",
            sources: ["LoadImages.swift"])
    ]
)
