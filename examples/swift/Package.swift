// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "images",
    dependencies: [.package(path: "../../clients/CachedClient")],
    targets: [
        .executableTarget(
            name: "images",
            dependencies: [.product(name: "CachedClient", package: "CachedClient")], path: ".",
            sources: ["Images.swift"])
    ]
)
