// swift-tools-version:6.2
import PackageDescription

// Programs that use Hearth, and tests of one, as in a package of somebody else: `swift run watcher` and `swift test` here,
// or `.ci/examples` for all.
let hearth = Target.Dependency.product(name: "Hearth", package: "hearth")

let package = Package(
  name: "hearth-examples",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "hearth", path: "../.."),
    .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.0.0"),
  ],
  targets: [
    .executableTarget(name: "watcher", dependencies: [hearth]),
    .executableTarget(name: "daemon", dependencies: [hearth]),
    .executableTarget(name: "todo", dependencies: [hearth]),
    .target(name: "Basket", dependencies: [hearth]),
    .testTarget(
      name: "BasketTests",
      dependencies: ["Basket", hearth, .product(name: "HearthTesting", package: "hearth")]),
    // On Apple's platforms the same target has `FirebaseFirestore` of firebase-ios-sdk in Hearth's place.
    .target(name: "SharedModel", dependencies: [hearth]),
    .executableTarget(
      name: "server",
      dependencies: ["SharedModel", hearth, .product(name: "Hummingbird", package: "hummingbird")]),
  ]
)
