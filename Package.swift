// swift-tools-version:6.2
import PackageDescription

/// Warnings are errors where Hearth is developed (`HEARTH_STRICT=1`), not where somebody builds it with another compiler.
let isStrict = Context.environment["HEARTH_STRICT"] == "1"

let swift: [SwiftSetting] =
  [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ] + (isStrict ? [.treatAllWarnings(as: .error)] : [])

/// The groups of `Sources/`, from the ground up, each with the folders of its modules.
let groups: KeyValuePairs = [
  "Base": [
    "LinearPatterns", "Spelling", "SeededRandom", "TOMLReading", "CCompression", "ByteCompression",
    "CSocketNames", "LocalSockets", "SerialExecutors",
  ],
  "Model": ["FirestoreModel", "FirestoreQuery", "FirestoreJSON", "FirestoreText", "FirestoreClientState"],
  "Storage": ["CSQLite", "CPageChecksums", "FirestoreSQLite"],
  "Protocol": [
    "FirestoreProtocol", "FirestoreProtoJSON", "COpenSSL", "TransportSecurity", "HTTP2Frames",
    "FirestoreGRPC",
  ],
  "Backend": ["FirestorePipelines", "FirestoreBackend", "FirestoreService", "CAllocator", "FirestoreServer"],
  "Client": [
    "FirestoreLocal", "FirestoreSync", "FirestoreSimulation", "ClientPort", "DatastoreTapping", "FirestoreSharing",
    "Hearth",
    "HearthTesting",
  ],
  "Emulator": [
    "FirestoreRules", "FirestoreExports", "FirestoreAccess", "FirestoreREST", "FirestoreEmulator", "FirestoreProxy",
  ],
  "Screen": [
    "TerminalCanvas", "TerminalTheme", "CNcurses", "CTerminalRestore", "Terminal", "DashboardModel", "Dashboard",
    "DashboardView",
  ],
  "Command": [
    "CommandOutput", "CommandOptions", "CommandTransfer", "DataCommands", "Assistant", "Scenarios", "DashboardHost",
    "HearthCommand",
  ],
  "Tools": ["CAllocationCount", "BenchmarkResults", "Benchmarks"],
]

/// The folder of a module of `Sources/`.
func folder(_ module: String) -> String {
  guard let group = groups.first(where: { $0.value.contains(module) }) else { fatalError("\(module) is in no group") }
  return "Sources/\(group.key)/\(module)"
}

/// One module of the package; `Sources/ARCHITECTURE.md` explains each arrow that `dependencies` draws.
func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil, exclude: [String] = []
) -> Target {
  .target(name: name, dependencies: dependencies, path: path ?? folder(name), exclude: exclude, swiftSettings: swift)
}

/// A library of the system, by its headers; `packages` are those that Debian names.
func systemLibrary(_ name: String, _ packages: [String] = []) -> Target {
  .systemLibrary(name: name, path: folder(name), providers: packages.isEmpty ? nil : [.apt(packages)])
}

/// A module written in C.
func cModule(_ name: String, _ linkerSettings: [LinkerSetting] = []) -> Target {
  .target(name: name, path: folder(name), linkerSettings: linkerSettings)
}

func executable(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], _ settings: [SwiftSetting] = []
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: folder(name), exclude: exclude, swiftSettings: swift + settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
  .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: swift)
}

/// `HEARTH_ORACLES=1` adds the tests that compare Hearth with other implementations of its protocols: grpc-swift and its
/// transport, swift-protobuf, swift-crypto and swift-certificates. They are three quarters of all packages and half an hour
/// of compilation in a slow clone, so a first look and a first test run do without them. CI sets it.
let hasOracles = Context.environment["HEARTH_ORACLES"] == "1"

/// What a test target has with oracles alone: its folder `Oracles`, and these dependencies.
func testsWithOracles(
  _ name: String, _ dependencies: [Target.Dependency], oracles: [Target.Dependency]
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies + (hasOracles ? oracles : []), exclude: hasOracles ? [] : ["Oracles"],
    swiftSettings: swift + (hasOracles ? [.define("HEARTH_ORACLES")] : []))
}

let grpc = Target.Dependency.product(name: "GRPCCore", package: "grpc-swift-2")
let protobuf = Target.Dependency.product(name: "SwiftProtobuf", package: "swift-protobuf")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let log = Target.Dependency.product(name: "Logging", package: "swift-log")
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let hpack = Target.Dependency.product(name: "NIOHPACK", package: "swift-nio-http2")
let http2 = Target.Dependency.product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport")

/// `HEARTH_CORE=1` leaves out everything that needs gRPC or HTTP/2: the cache, the core, the backend and the screen then
/// build in a third of the time, which is what the sanitizers and `hearth-bench` are run with.
let coreOnly = Context.environment["HEARTH_CORE"] == "1"
let needGRPC: Set<String> = [
  "WireOracle", "TransportSecurity", "HTTP2Frames", "FirestoreGRPC", "FirestoreServer", "FirestoreEmulator",
  "FirestoreProxy",
  "FirestoreSharing", "FirestoreSharingTests", "Hearth", "HearthTesting", "HearthTestingTests", "CommandOutput",
  "CommandOptions", "CommandTransfer", "DataCommands", "Assistant",
  "ShippedScenarios", "Scenarios", "DashboardHost", "HearthCommand",
  "ClientTesting", "ServerTesting",
  "FirestoreProtocolTests", "FirestoreRESTTests",
  "Shop", "FirestoreGRPCTests", "FirestoreServerTests", "FirestoreEmulatorTests", "RemoteTests", "HearthTests",
  "ArticleTests", "ConformanceTests",
  "ScenarioTests", "HearthCommandTests", "EndToEndTests", "SharingClient", "SharingTests",
]

/// `HEARTH_PROGRAMS=1` leaves out the tests with their helpers, such as `hearth-spec`: one `swift build -c release` then
/// builds `hearth` and `hearth-bench` together.
let programsOnly = Context.environment["HEARTH_PROGRAMS"] == "1"

/// A package with the version that Hearth is tested with. A program that depends on Hearth gets that one or a newer one
/// that promises the same API; `HEARTH_PINNED=1` takes exactly the tested ones. `.ci/dependencies` tries both.
func dependency(
  _ repository: String, _ version: Version, traits: Set<Package.Dependency.Trait> = [.defaults]
) -> Package.Dependency {
  let location = "https://github.com/\(repository).git"
  if Context.environment["HEARTH_PINNED"] == "1" { return .package(url: location, exact: version, traits: traits) }
  // Before version 1 a minor version may break what the one before promised.
  let range = version.major == 0 ? Range.upToNextMinor(from: version) : .upToNextMajor(from: version)
  return .package(url: location, range, traits: traits)
}

/// The packages of `hasOracles`.
let oraclePackages = [
  dependency("grpc/grpc-swift-2", "2.4.3"),
  dependency("grpc/grpc-swift-nio-transport", "2.9.2"),
  dependency("apple/swift-protobuf", "1.39.0", traits: []),
  dependency("apple/swift-crypto", "4.5.2"),
  dependency("apple/swift-certificates", "1.21.1"),
  dependency("apple/swift-asn1", "1.7.4"),
]

let package = Package(
  name: "hearth",
  products: [
    .library(name: "Hearth", targets: ["Hearth"]),
    .library(name: "HearthTesting", targets: ["HearthTesting"]),
    .executable(name: "hearth", targets: ["HearthCommand"]),
    .executable(name: "hearth-spec", targets: ["SpecRunner"]),
    .executable(name: "hearth-bench", targets: ["Benchmarks"]),
  ],
  dependencies: [
    dependency("apple/swift-argument-parser", "1.8.2"),
    dependency("apple/swift-collections", "1.6.0"),
    dependency("apple/swift-log", "1.16.2"),
    dependency("apple/swift-nio", "2.101.2"),
    dependency("apple/swift-nio-http2", "1.46.0"),
  ] + (hasOracles ? oraclePackages : []),
  targets: [
    module("SeededRandom"),
    module("Spelling"),
    module("FirestoreModel"),
    module("FirestoreQuery", ["FirestoreModel", .product(name: "HashTreeCollections", package: "swift-collections")]),
    module("FirestoreJSON", ["FirestoreModel"]),
    module(
      "FirestoreText", ["FirestoreModel", "FirestoreQuery", "FirestoreJSON", "FirestoreClientState", "Spelling"]),
    module("FirestoreProtoJSON", ["FirestoreModel", "FirestoreJSON"]),
    module(
      "DatastoreTapping",
      [
        "SerialExecutors", "FirestoreModel", "FirestoreQuery", "FirestoreProtocol", "ClientPort",
      ]),
    module("LinearPatterns"),
    module("FirestoreRules", ["FirestoreModel", "FirestoreQuery", "FirestoreJSON", "FirestoreText", "LinearPatterns"]),
    module("FirestoreExports", ["FirestoreModel"]),
    cModule("CSocketNames"),
    module("LocalSockets"),
    module("SerialExecutors"),
    module("FirestoreClientState", ["FirestoreModel", "FirestoreQuery", "FirestoreJSON"]),
    module(
      "ClientPort",
      [
        "FirestoreModel", "FirestoreQuery", "FirestoreJSON", "FirestoreText", "FirestoreProtoJSON",
        "FirestoreClientState", "LocalSockets",
      ]),
    systemLibrary("CSQLite", ["libsqlite3-dev"]),
    cModule("CPageChecksums", [.linkedLibrary("sqlite3")]),
    module("FirestoreSQLite", ["FirestoreModel", "CSQLite", "CPageChecksums"]),
    module(
      "FirestoreLocal",
      [
        "FirestoreModel", "FirestoreQuery", "FirestoreClientState", "FirestoreProtocol", "FirestoreSQLite",
      ]),
    module("FirestoreProtocol", ["FirestoreModel", "FirestoreQuery", "SerialExecutors"]),
    module("FirestorePipelines", ["FirestoreModel", "FirestoreQuery", "FirestoreProtocol", "LinearPatterns"]),
    systemLibrary("COpenSSL", ["libssl-dev"]),
    module("TransportSecurity", ["COpenSSL", nio]),
    module("HTTP2Frames", [nio, hpack]),
    module(
      "FirestoreGRPC",
      [
        "SerialExecutors", "FirestoreModel", "FirestoreQuery", "FirestoreProtocol",
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"), "TransportSecurity", "HTTP2Frames", hpack,
      ]),
    module(
      "FirestoreSync",
      [
        "SerialExecutors", "FirestoreModel", "FirestoreQuery", "FirestoreJSON", "FirestoreClientState",
        "FirestoreSQLite",
        "FirestoreLocal", "FirestoreProtocol", "FirestoreProtoJSON",
      ]),
    module(
      "FirestoreBackend",
      [
        "SerialExecutors", "FirestoreModel", "FirestoreQuery", "FirestoreClientState", "FirestoreProtocol",
        "FirestorePipelines",
        "FirestoreSQLite",
      ]),
    module(
      "FirestoreService",
      [
        "FirestoreModel", "FirestoreQuery", "FirestoreJSON", "FirestoreClientState", "FirestoreProtocol",
        "FirestorePipelines", "FirestoreBackend",
      ]),
    module(
      "FirestoreAccess",
      [
        "FirestoreModel", "FirestoreQuery", "FirestoreJSON", "FirestoreProtocol", "FirestoreBackend", "FirestoreRules",
        "FirestoreService",
      ]),
    module("FirestoreREST", ["FirestoreModel", "FirestoreJSON", "FirestoreProtoJSON", "FirestoreService"]),
    systemLibrary("CAllocator"),
    module(
      "FirestoreServer",
      [
        "FirestoreModel", "FirestoreClientState", "FirestoreProtocol", "FirestoreBackend", "FirestoreService",
        "HTTP2Frames", nio, .product(name: "NIOPosix", package: "swift-nio"), hpack,
      ]),
    module(
      "FirestoreEmulator",
      [
        "FirestoreModel", "FirestoreQuery", "FirestoreJSON", "FirestoreClientState", "FirestoreBackend",
        "FirestoreRules",
        "FirestoreExports", "FirestoreService", "FirestoreAccess", "FirestoreREST", "FirestoreServer", "CAllocator",
        nio, .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"), "TransportSecurity", "HTTP2Frames", hpack,
      ]),
    module(
      "FirestoreSimulation",
      [
        "SerialExecutors", "FirestoreModel", "FirestoreClientState", "FirestoreProtocol", "FirestoreSQLite",
        "FirestoreBackend",
        "SeededRandom",
      ]),
    module(
      "FirestoreProxy",
      [
        "FirestoreModel", "FirestoreQuery", "FirestoreJSON", "FirestoreText", "FirestoreClientState",
        "FirestoreProtocol",
        "ClientPort", "FirestoreGRPC", "FirestoreBackend", "FirestoreService", "FirestoreServer", "FirestoreREST",
        "FirestoreEmulator",
        "TransportSecurity", "HTTP2Frames", nio, .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"), hpack,
      ]),
    module(
      "FirestoreSharing",
      [
        "SerialExecutors", "FirestoreModel", "FirestoreQuery", "FirestoreClientState", "FirestoreProtocol",
        "FirestoreSQLite",
        "FirestoreBackend", "FirestoreGRPC", "FirestoreServer", "LocalSockets",
      ]),
    module(
      "Hearth",
      [
        "SerialExecutors", "FirestoreModel", "FirestoreQuery", "FirestoreJSON", "FirestoreClientState",
        "FirestoreSQLite",
        "FirestoreLocal", "FirestoreProtocol", "FirestoreSync", "FirestoreBackend", "FirestoreGRPC", "FirestoreSharing",
        "ClientPort", "LocalSockets", "CSocketNames",
      ]),
    module(
      "HearthTesting",
      [
        "Hearth", "FirestoreModel", "FirestoreQuery", "FirestoreText", "FirestoreClientState", "FirestoreProtocol",
        "FirestoreLocal", "FirestoreSync", "FirestoreBackend", "FirestoreSimulation", "ClientPort", "SeededRandom",
      ]),

    module("TerminalCanvas", ["FirestoreModel"]),
    .target(
      name: "BuiltinThemes", path: "themes",
      resources: [
        .embedInCode("ember.toml"), .embedInCode("paper.toml"), .embedInCode("high-contrast.toml"),
        .embedInCode("okabe-ito.toml"),
        .embedInCode("solarized-dark.toml"), .embedInCode("solarized-light.toml"), .embedInCode("gruvbox-dark.toml"),
        .embedInCode("nord.toml"), .embedInCode("dracula.toml"), .embedInCode("catppuccin-mocha.toml"),
        .embedInCode("catppuccin-latte.toml"), .embedInCode("gruvbox-light.toml"), .embedInCode("tokyo-night.toml"),
        .embedInCode("rose-pine-dawn.toml"), .embedInCode("monochrome.toml"),
      ],
      swiftSettings: swift),
    module("TOMLReading"),
    module("TerminalTheme", ["TerminalCanvas", "Spelling", "BuiltinThemes", "TOMLReading"]),
    systemLibrary("CCompression", ["zlib1g-dev", "libzstd-dev"]),
    module("ByteCompression", ["CCompression"]),
    systemLibrary("CNcurses", ["libncurses-dev"]),
    cModule("CTerminalRestore"),
    module("Terminal", ["TerminalCanvas", "TerminalTheme", "CNcurses", "CTerminalRestore"]),
    module(
      "DashboardModel",
      [
        "TerminalCanvas", "FirestoreModel", "FirestoreQuery", "FirestoreJSON", "FirestoreText", "FirestoreClientState",
        "ClientPort", "LinearPatterns",
      ]),
    module(
      "Dashboard",
      [
        "DashboardModel", "TerminalCanvas", "FirestoreModel", "FirestoreQuery", "FirestoreJSON", "FirestoreText",
        "FirestoreClientState", "ClientPort", "Spelling",
      ]),
    module(
      "DashboardView",
      [
        "Dashboard", "DashboardModel", "TerminalCanvas", "FirestoreModel", "FirestoreQuery", "FirestoreJSON",
        "FirestoreText", "FirestoreClientState", "ClientPort",
      ]),

    module(
      "CommandOutput",
      [
        "Hearth", "FirestoreModel", "FirestoreQuery", "FirestoreJSON", "FirestoreText", "FirestoreSQLite",
        "FirestoreBackend", "TOMLReading", "TerminalCanvas", "TerminalTheme", "Spelling",
        "ByteCompression",
        arguments, log,
      ]),
    module(
      "CommandOptions",
      [
        "CommandOutput", "Hearth", "FirestoreModel", "FirestoreQuery", "FirestoreJSON", "FirestoreText",
        "FirestoreProtocol", "FirestoreSQLite", "FirestoreLocal", "FirestoreSync", "FirestoreBackend", "FirestoreGRPC",
        "FirestoreSharing", "TOMLReading", "TerminalTheme", "Spelling", arguments, log,
      ]),
    module(
      "CommandTransfer",
      [
        "CommandOutput", "CommandOptions", "Hearth", "FirestoreModel", "FirestoreQuery", "FirestoreJSON",
        "FirestoreText", "FirestoreProtocol", "FirestoreLocal", "FirestoreSync", "FirestoreBackend", "FirestoreGRPC",
        "FirestoreExports", "Spelling", "ByteCompression", arguments,
      ]),
    module(
      "DataCommands",
      [
        "CommandOutput", "CommandOptions", "CommandTransfer", "Hearth", "FirestoreModel", "FirestoreQuery",
        "FirestoreJSON",
        "FirestoreText", "FirestoreClientState", "FirestoreProtocol", "FirestoreSQLite", "FirestoreLocal",
        "FirestoreSync",
        "FirestoreBackend", "FirestoreGRPC", "FirestoreSharing", "FirestoreRules", "TerminalTheme", "Spelling",
        arguments,
      ]),
    module("Assistant", ["CommandOutput", "FirestoreJSON", "FirestoreRules", "FirestoreGRPC"]),
    module(
      "Scenarios",
      [
        "CommandOutput", "CommandOptions", "CommandTransfer", "ShippedScenarios", "Hearth", "HearthTesting",
        "FirestoreModel", "FirestoreQuery", "FirestoreJSON", "FirestoreText", "FirestoreClientState",
        "FirestoreProtocol", "FirestoreRules", "FirestoreAccess",
        "FirestoreSQLite",
        "FirestoreLocal", "FirestoreSync", "FirestoreBackend", "FirestoreSimulation", "ClientPort", "Spelling",
      ],
      exclude: ["Shipped"]),
    .target(
      name: "ShippedScenarios", path: "Sources/Command/Scenarios/Shipped",
      resources: [
        .embedInCode("listening.scenarios"), .embedInCode("writing.scenarios"), .embedInCode("offline.scenarios"),
        .embedInCode("together.scenarios"), .embedInCode("faults.scenarios"), .embedInCode("rules.scenarios"),
        .embedInCode("caches.scenarios"),
      ],
      swiftSettings: swift),
    module(
      "DashboardHost",
      [
        "CommandOutput", "CommandOptions", "CommandTransfer", "Scenarios", "Hearth", "FirestoreModel", "FirestoreQuery",
        "FirestoreJSON", "FirestoreText", "FirestoreClientState", "FirestoreProtocol", "FirestoreSQLite",
        "FirestoreLocal", "FirestoreSync", "FirestoreBackend", "FirestoreGRPC", "FirestoreSharing",
        "ClientPort", "DatastoreTapping", "LocalSockets", "TOMLReading", "TerminalCanvas", "TerminalTheme",
        "Terminal", "DashboardModel", "Dashboard", "DashboardView", "SeededRandom", "Spelling", "CAllocator", arguments,
        log,
      ]),
    executable(
      "HearthCommand",
      [
        "SerialExecutors", "CommandOutput", "CommandOptions", "CommandTransfer", "DataCommands", "Assistant",
        "Scenarios",
        "DashboardHost", "Hearth",
        "FirestoreModel",
        "FirestoreQuery", "FirestoreJSON", "FirestoreText", "FirestoreClientState", "FirestoreProtocol",
        "FirestoreSQLite", "FirestoreLocal", "FirestoreSync", "FirestoreBackend", "FirestoreService", "FirestoreGRPC",
        "FirestoreRules", "FirestoreExports", "FirestoreAccess", "FirestoreServer", "FirestoreEmulator",
        "FirestoreProxy", "FirestoreProtoJSON", "FirestoreSharing", "ClientPort", "TransportSecurity",
        "TerminalCanvas", "TerminalTheme", "Terminal", "DashboardModel", "Dashboard", "Spelling", "ByteCompression",
        "ManualPages", arguments,
      ],
      exclude: ["Manual"]),
    .target(
      name: "ManualPages", path: "Sources/Command/HearthCommand/Manual",
      resources: [
        .embedInCode("Dashboard.md"), .embedInCode("Commands.md"), .embedInCode("Queries.md"),
        .embedInCode("Shell.md"), .embedInCode("Serve.md"), .embedInCode("Emulator.md"), .embedInCode("Testing.md"),
        .embedInCode("Mcp.md"), .embedInCode("Library.md"),
      ],
      swiftSettings: swift),
    cModule("CAllocationCount"),
    module("BenchmarkResults", ["Spelling"]),
    executable(
      "Benchmarks",
      [
        "CAllocationCount", "BenchmarkResults",
        "SeededRandom", "Spelling", "FirestoreModel", "FirestoreQuery", "FirestoreClientState", "FirestoreLocal",
        "FirestoreProtocol", "FirestoreSync", "FirestoreBackend", "CSQLite", "FirestoreSQLite", "ClientPort",
        "DashboardModel",
        "Dashboard", "DashboardView", "TerminalCanvas",
        arguments,
      ] + (coreOnly ? [] : ["Hearth", "FirestoreGRPC"]), exclude: ["RECORD.json"],
      coreOnly ? [.define("HEARTH_CORE")] : []),

    module(
      "FirestoreTesting", ["SerialExecutors", "FirestoreModel", "FirestoreProtocol", "SeededRandom"],
      path: "Tests/FirestoreTesting"),
    module(
      "FirestoreSpec",
      [
        "FirestoreModel", "FirestoreQuery", "FirestoreClientState", "FirestoreJSON", "FirestoreSQLite",
        "FirestoreLocal", "FirestoreProtocol", "FirestoreSync",
      ],
      path: "Tests/FirestoreSpec"),
    .executableTarget(
      name: "SpecRunner", dependencies: ["FirestoreSpec", arguments], path: "Tests/SpecRunner", swiftSettings: swift),
    .target(
      name: "ClientTesting",
      dependencies: [
        "FirestoreGRPC", .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      path: "Tests/ClientTesting", swiftSettings: swift),
    module(
      "ServiceTesting", ["FirestoreTesting", "FirestoreModel", "FirestoreBackend", "FirestoreService"],
      path: "Tests/ServiceTesting"),
    module(
      "ServerTesting",
      [
        "FirestoreTesting", "FirestoreModel", "FirestoreBackend", "FirestoreService", "FirestoreServer", nio, hpack,
        .product(name: "NIOEmbedded", package: "swift-nio"),
      ],
      path: "Tests/ServerTesting"),
    tests("BenchmarkResultsTests", ["BenchmarkResults", "FirestoreTesting"]),
    tests("FirestoreModelTests", ["FirestoreTesting", "FirestoreModel", "SeededRandom"]),
    tests("FirestoreQueryTests", ["FirestoreTesting", "SeededRandom", "FirestoreModel", "FirestoreQuery"]),
    tests(
      "FirestorePipelinesTests",
      [
        "FirestoreTesting", "SeededRandom", "FirestoreModel", "FirestoreQuery", "FirestoreProtocol",
        "FirestorePipelines",
      ]),
    tests(
      "FirestoreTextTests",
      ["FirestoreTesting", "FirestoreModel", "FirestoreQuery", "FirestoreClientState", "FirestoreText"]),
    tests("LinearPatternsTests", ["LinearPatterns", "SeededRandom"]),
    tests(
      "FirestoreRulesTests",
      ["FirestoreTesting", "SeededRandom", "FirestoreModel", "FirestoreQuery", "FirestoreJSON", "FirestoreRules"],
      exclude: ["Verdicts"]),
    tests("FirestoreJSONTests", ["FirestoreTesting", "FirestoreModel", "FirestoreJSON", "SeededRandom"]),
    tests(
      "FirestoreExportsTests", ["FirestoreTesting", "SeededRandom", "FirestoreModel", "FirestoreExports"],
      exclude: ["Exports"]),
    tests("FirestoreSQLiteTests", ["FirestoreTesting", "SeededRandom", "FirestoreSQLite", "CPageChecksums"]),
    tests(
      "FirestoreLocalTests",
      [
        "FirestoreTesting", "SeededRandom", "FirestoreModel", "FirestoreQuery", "FirestoreClientState",
        "CSQLite", "FirestoreSQLite", "FirestoreLocal", "FirestoreProtocol",
      ]),
    tests(
      "FirestoreSyncTests",
      [
        "SerialExecutors", "FirestoreModel", "FirestoreQuery", "FirestoreClientState", "FirestoreLocal",
        "FirestoreProtocol",
        "FirestoreSync", "FirestoreSpec",
        "FirestoreJSON", "FirestoreProtoJSON", "FirestoreBackend", "FirestoreTesting", "SeededRandom",
        "FirestoreSQLite", "FirestoreSimulation", "ClientPort", "DatastoreTapping",
      ]),
    tests(
      "ModelTests",
      [
        "FirestoreTesting", "SeededRandom", "FirestoreModel", "FirestoreQuery", "FirestoreClientState",
        "FirestoreSQLite",
        "FirestoreLocal", "FirestoreProtocol", "FirestoreSync", "FirestoreBackend",
      ]),
    tests(
      "FirestoreBackendTests",
      [
        "FirestoreTesting", "SeededRandom", "FirestoreModel", "FirestoreQuery", "FirestoreClientState",
        "FirestoreProtocol",
        "FirestoreSQLite", "FirestoreBackend",
      ]),
    testsWithOracles(
      "FirestoreGRPCTests",
      [
        "FirestoreTesting", "ChildProcesses", "ClientTesting", "ServerTesting", "FirestoreModel", "FirestoreQuery",
        "FirestoreProtocol", "FirestoreGRPC",
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"), .product(name: "NIOHPACK", package: "swift-nio-http2"),
      ], oracles: ["WireOracle", grpc, protobuf, http2, .product(name: "CryptoExtras", package: "swift-crypto")]),
    testsWithOracles(
      "RemoteTests",
      [
        "FirestoreTesting", "ClientTesting", "SeededRandom", "Hearth", "FirestoreModel", "FirestoreLocal",
        "FirestoreProtocol",
        "FirestoreSync", "FirestoreBackend", "FirestoreGRPC", "FirestoreRules", "FirestoreAccess", "FirestoreServer",
        "FirestoreEmulator", "FirestoreProxy", "FirestoreClientState", "ClientPort", "COpenSSL", "TransportSecurity",
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHPACK", package: "swift-nio-http2"),
      ],
      oracles: [
        .product(name: "Crypto", package: "swift-crypto"), .product(name: "X509", package: "swift-certificates"),
        .product(name: "SwiftASN1", package: "swift-asn1"),
      ]),
    tests(
      "FirestoreServerTests",
      [
        "FirestoreTesting", "ServerTesting", "FirestoreModel", "FirestoreBackend", "FirestoreService",
        "FirestoreServer", "HTTP2Frames", nio, hpack, .product(name: "NIOEmbedded", package: "swift-nio"),
      ]),
    tests(
      "FirestoreEmulatorTests",
      [
        "FirestoreTesting", "ServerTesting", "SeededRandom", "FirestoreModel", "FirestoreJSON", "FirestoreREST",
        "FirestoreRules",
        "FirestoreBackend", "FirestoreService", "FirestoreAccess", "FirestoreServer", "FirestoreEmulator",
        "FirestoreExports", nio, hpack, .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ]),
    tests(
      "FirestoreSharingTests",
      [
        "FirestoreTesting", "FirestoreModel", "FirestoreQuery", "FirestoreClientState", "FirestoreProtocol",
        "FirestoreSQLite",
        "FirestoreBackend", "FirestoreGRPC", "FirestoreServer", "FirestoreSharing", "LocalSockets",
      ]),
    testsWithOracles(
      "FirestoreRESTTests",
      [
        "FirestoreTesting", "SeededRandom", "FirestoreModel", "FirestoreJSON", "FirestoreBackend",
        "FirestoreProtoJSON", "FirestoreService", "FirestoreREST",
      ], oracles: ["WireOracle", protobuf]),
    tests(
      "FirestoreServiceTests",
      [
        "FirestoreTesting", "ServiceTesting", "SeededRandom", "FirestoreModel", "FirestoreQuery",
        "FirestoreClientState",
        "FirestoreProtocol", "FirestoreBackend", "FirestoreService",
      ]),
    tests(
      "FirestoreAccessTests",
      [
        "FirestoreTesting", "ServiceTesting", "SeededRandom", "FirestoreModel", "FirestoreQuery", "FirestoreJSON",
        "FirestoreProtocol",
        "FirestoreBackend", "FirestoreRules", "FirestoreService", "FirestoreAccess",
      ]),
    tests(
      "HearthTests",
      [
        "FirestoreTesting", "ClientTesting", "Hearth", "FirestoreModel", "FirestoreQuery", "FirestoreClientState",
        "FirestoreProtocol", "FirestoreBackend", "ClientPort", "FirestoreLocal", "FirestoreSQLite",
        "FirestoreSync", "LocalSockets",
      ]),
    tests("HearthTestingTests", ["Hearth", "HearthTesting"]),
    tests("ArticleTests", ["FirestoreTesting", "Hearth", "HearthTesting", log]),
    tests(
      "ConformanceTests",
      [
        "FirestoreTesting", "ClientTesting", "Hearth", "FirestoreModel", "FirestoreQuery", "FirestoreClientState",
        "FirestoreJSON", "FirestoreLocal",
        "FirestoreProtocol",
        "FirestoreSync", "FirestoreBackend",
      ]),
    module("TerminalTesting", ["TerminalCanvas"], path: "Tests/TerminalTesting"),
    tests("TerminalCanvasTests", ["TerminalTesting", "SeededRandom", "TerminalCanvas"]),
    tests("TOMLReadingTests", ["TOMLReading"]),
    tests("TerminalThemeTests", ["TerminalCanvas", "TerminalTheme"]),
    tests(
      "TerminalTests",
      [
        "FirestoreTesting", "TerminalTesting", "ClientPort",
        "SeededRandom", "TerminalCanvas", "TerminalTheme", "Terminal", "CNcurses", "DashboardModel", "Dashboard",
        "DashboardView",
        "FirestoreModel",
        "FirestoreQuery", "FirestoreClientState",
      ]),
    tests(
      "DashboardTests",
      [
        "FirestoreTesting", "TerminalTesting", "ClientPort",
        "SeededRandom", "DashboardModel", "Dashboard", "DashboardView", "TerminalCanvas", "FirestoreModel",
        "FirestoreQuery",
        "FirestoreClientState",
        "FirestoreJSON", "FirestoreText", "LinearPatterns",
      ],
      exclude: ["Goldens"]),
    tests(
      "HearthCommandTests",
      [
        "FirestoreTesting", "ClientTesting", "CommandOutput", "CommandOptions", "CommandTransfer", "DataCommands",
        "Scenarios",
        "DashboardHost", "HearthCommand", "Hearth", "FirestoreModel", "FirestoreQuery",
        "FirestoreText", "FirestoreRules", "FirestoreClientState", "FirestoreJSON", "FirestoreLocal",
        "FirestoreProtocol", "DatastoreTapping",
        "FirestoreSync", "FirestoreBackend", "FirestoreGRPC", "DashboardModel", "Dashboard", "DashboardView",
        "TerminalTheme",
        "TerminalCanvas",
        "TerminalTesting", "SeededRandom", "ClientPort", "FirestoreExports", "LocalSockets", "ByteCompression",
        "FirestoreProxy", arguments,
      ]),
    tests(
      "ScenarioTests",
      [
        "SerialExecutors", "FirestoreTesting", "Scenarios", "CommandOutput", "FirestoreModel", "FirestoreQuery",
        "FirestoreClientState", "ClientPort",
        "FirestoreSimulation", "FirestoreSQLite", "FirestoreSync", "Hearth",
      ]),
    .target(name: "ChildProcesses", path: "Tests/ChildProcesses", swiftSettings: swift),
    .target(name: "FailingCalls", path: "Tests/FailingCalls"),
    .executableTarget(
      name: "CrashClient",
      dependencies: [
        "FailingCalls",
        "FirestoreModel", "FirestoreQuery", "FirestoreClientState", "FirestoreSQLite", "FirestoreLocal",
        "FirestoreProtocol", "FirestoreSync", "FirestoreBackend",
      ],
      path: "Tests/CrashClient", swiftSettings: swift),
    tests(
      "DurabilityTests",
      [
        "FirestoreTesting", "SeededRandom", "ChildProcesses", "CrashClient", "FirestoreModel", "FirestoreQuery",
        "FirestoreClientState",
        "FirestoreSQLite", "FirestoreLocal", "FirestoreProtocol", "FirestoreSync", "FirestoreBackend",
      ]),
    .executableTarget(
      name: "SharingClient",
      dependencies: [
        "SeededRandom", "FirestoreModel", "FirestoreQuery", "FirestoreClientState", "FirestoreSQLite", "FirestoreLocal",
        "FirestoreProtocol", "FirestoreSync", "FirestoreGRPC",
      ],
      path: "Tests/SharingClient", swiftSettings: swift),
    tests(
      "SharingTests",
      [
        "SeededRandom", "ChildProcesses", "SharingClient", "FirestoreModel", "FirestoreQuery", "FirestoreSQLite",
        "FirestoreLocal", "FirestoreBackend", "FirestoreServer", "FirestoreEmulator",
      ]),
    .executableTarget(name: "Shop", dependencies: ["Hearth"], path: "Tests/Shop", swiftSettings: swift),
    tests(
      "EndToEndTests",
      [
        "ChildProcesses", "HearthCommand", "Shop", "Hearth", "FirestoreBackend", "FirestoreLocal", "FirestoreModel",
        "FirestoreQuery",
        "TerminalTesting", "TerminalCanvas",
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// `HEARTH_FUZZ=1` adds the program of `.ci/fuzz`.
if Context.environment["HEARTH_FUZZ"] == "1" {
  package.targets.append(
    .executableTarget(
      name: "FuzzTargets",
      dependencies: [
        "FirestoreTesting", "ServerTesting", "FirestoreModel", "FirestoreJSON", "FirestoreText", "FirestoreProtocol",
        "FirestoreBackend", "FirestoreRules", "FirestoreService", "FirestoreServer", "FirestoreGRPC", "HTTP2Frames",
        "TOMLReading", nio, hpack, .product(name: "NIOEmbedded", package: "swift-nio"),
      ],
      path: "Tests/FuzzTargets", swiftSettings: swift))
}

if hasOracles {
  package.targets += [
    .target(
      name: "WireOracle", dependencies: ["FirestoreModel", "FirestoreQuery", "FirestoreProtocol", protobuf],
      path: "Tests/WireOracle", exclude: ["Protos"], swiftSettings: swift),
    tests(
      "FirestoreProtocolTests",
      [
        "FirestoreTesting", "SeededRandom", "WireOracle", "FirestoreModel", "FirestoreQuery", "FirestoreProtocol",
        "FirestoreBackend", "FirestoreService", protobuf,
      ]),
  ]
}

if coreOnly {
  package.targets.removeAll { needGRPC.contains($0.name) }
  package.products.removeAll { ["Hearth", "HearthTesting", "hearth"].contains($0.name) }
  package.dependencies.removeAll { dependency in
    guard case .sourceControl(_, let location, _) = dependency.kind else { return false }
    return location.contains("/swift-nio")
  }
}

if programsOnly {
  package.targets.removeAll { $0.isTest || $0.path?.hasPrefix("Tests/") == true }
  package.products.removeAll { $0.name == "hearth-spec" }
}
