// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ClientPort
import CommandOptions
import CommandOutput
import DashboardHost
import Dispatch
import FirestoreClientState
import FirestoreGRPC
import FirestoreLocal
import FirestoreModel
import FirestoreProxy
import FirestoreText
import Foundation

import enum Hearth.InspectionPermission

/// `hearth proxy`: a proxy between clients of any SDK and any server.
struct ProxyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "proxy", abstract: "Show and disturb the traffic between any client and any server.",
    discussion: """
      Clients connect to the proxy instead of the server. gRPC, REST and WebChannel traffic passes unchanged. The \
      proxy prints a line for each stream and each message, without the contents of documents. Commands on standard \
      input inject faults: fault latency 200ms, write drop-ack, next read unavailable, down, up, calm. help lists \
      them, quit ends the proxy. With drop-ack the server applies the write, but the client loses the connection \
      instead of getting the response. If the server cannot be reached, clients get UNAVAILABLE (503). Exit status: 0 \
      after SIGINT or SIGTERM, 69 if the port is in use.

      On a terminal the dashboard opens with the first client. It shows the listeners of all clients and the documents \
      that the server sent them, their pending writes and their calls. o disconnects the server, :fault injects a \
      fault, q quits. --plain prints lines instead. In another terminal, hearth attach shows the clients: the proxy by \
      its process number, each client by its name, such as client-1. HEARTH_INSPECT=0 and --quiet forbid this.

      Example: hearth proxy --to 127.0.0.1:8080 --port 8081 --fault 'latency 100ms'
      """)

  @Option(help: ArgumentHelp("The address of the server.", valueName: "host:port"))
  var to: String

  @Option(help: ArgumentHelp("The port to listen on; 0 lets the system choose.", valueName: "number"))
  var port: Int

  @Option(help: ArgumentHelp("The address to listen on.", valueName: "address"))
  var host = "127.0.0.1"

  @Flag(help: "Use TLS to the server, as Cloud Firestore requires. Clients connect to the proxy without TLS.")
  var toTls = false

  @Option(
    help: ArgumentHelp(
      "Trust the certificates in this PEM file instead of the system's; implies --to-tls.", valueName: "file"))
  var trust: String?

  @Option(
    help: ArgumentHelp(
      "Start with this fault: \"latency 200ms\", \"loss 10%\", \"next write drop-ack\"; repeatable. 'hearth help "
        + "testing' lists them.", valueName: "words"),
    transform: ProxyCommand.fault)
  var fault: [FaultChange] = []

  @Option(help: ArgumentHelp("Random seed, which makes losses and jitter repeatable.", valueName: "number"))
  var seed: UInt64 = 0

  @Flag(help: "Print JSON, one object for each stream and message.")
  var json = false

  @Flag(help: "Also print the contents of messages of up to 64 KiB.")
  var values = false

  @Flag(name: .shortAndLong, help: "Do not print streams and messages.")
  var quiet = false

  @Flag(help: "Print lines instead of opening the dashboard on a terminal.")
  var plain = false

  @OptionGroup var appearance: AppearanceOptions
  @OptionGroup var log: LogOptions

  private static func fault(_ text: String) throws -> FaultChange {
    do throws(TextError) { return try FaultText.parse(text) } catch { throw ValidationError("\(error)") }
  }

  func validate() throws {
    if !(0...65_535).contains(port) { throw ValidationError("Invalid port \(port). Use a number from 0 to 65535.") }
    if quiet, json || values { throw ValidationError("--quiet prints nothing. Remove --json and --values.") }
    do throws(ModelError) { _ = try target() } catch { throw ValidationError(error.message) }
  }

  private func target() throws(ModelError) -> Endpoint {
    let isTLS = toTls || trust != nil || to.lowercased().hasPrefix("https://")
    return try Endpoint(
      to, defaultPort: isTLS ? 443 : nil, security: isTLS ? .tls(trustRoots: trust) : .plaintext, from: "--to")
  }

  /// The maximum size in bytes of a message that watchers can see. This is enough for the largest commit.
  private static let longestWatched = 11 << 20

  mutating func run() async throws {
    let environment = ProcessInfo.processInfo.environment
    let target = try target()
    let isWatched = InspectionPermission.isGiven(unlessSaid: !quiet, environment)
    var configuration = ProxyServer.Configuration(host: host, port: port, target: target)
    (configuration.seed, configuration.faults) = (seed, fault)
    configuration.contentLimit = isWatched ? Self.longestWatched : values ? ProxyLines.longestContent : 0
    let server = ProxyServer(configuration)
    let watched = isWatched ? WatchedProxy(server, configuration, in: InspectionFolder(environment)) : nil
    let lines = ProxyLines(asJSON: json, hasContents: values)
    let address = configuration
    let begin: @Sendable (Int) -> Void = { lines.begin(from: address.address($0), to: target) }
    let hasScreen = !plain && !json && !quiet && !values && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    do {
      if hasScreen, let watched {
        try await showScreen(server, lines, watched, begin)
      } else {
        try await printLines(server, lines, watched, begin)
      }
    } catch let status as RPCStatus {
      throw CommandFailure(ExitStatus.unavailable, status.message)
    }
  }

  /// Runs the proxy until `quit` is typed or a signal arrives.
  private func printLines(
    _ server: ProxyServer, _ lines: ProxyLines, _ watched: WatchedProxy?, _ begin: @escaping @Sendable (Int) -> Void
  ) async throws {
    let interruptions = Surroundings.current.interruptions()
    let (causes, isQuiet) = (interruptions.causes, quiet)
    let tell: @Sendable (ProtocolEvent) -> Void = { event in
      if !isQuiet { lines.put(event) }
      watched?.note(event)
    }
    let report = isQuiet && watched == nil ? nil : tell
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run(report: report, ready: begin) }
      group.addTask { _ = await causes.first { _ in true } }
      group.addTask { if await !Self.followWords(server, lines, watched) { try await Self.forever() } }
      group.addTask { try await lines.print() }
      defer { group.cancelAll() }
      try await group.next()
    }
    await watched?.end()
    withExtendedLifetime(interruptions) {}
  }

  /// Prints lines until the first client has named its database. Then shows the clients of the proxy in the dashboard,
  /// until the user quits.
  @MainActor
  private func showScreen(
    _ server: ProxyServer, _ lines: ProxyLines, _ watched: WatchedProxy, _ begin: @escaping @Sendable (Int) -> Void
  ) async throws {
    let start = try ScreenStart(appearance, log, otherwise: "'hearth proxy --plain' prints lines")
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        defer { continuation.finish() }
        try await server.run { event in
          lines.put(event)
          watched.note(event)
        } ready: {
          continuation.yield($0)
        }
      }
      for await port in ports {
        begin(port)
        lines.show("The dashboard opens with the first client. Ctrl-C ends the proxy.")
        if let address = try await Self.firstClient(watched, lines) {
          let (_, greeting, link) = try InspectablePrograms(in: watched.folder).entry("\(address)")
          try await Self.dashboard(start, Attachment(greeting, at: address, over: link, allowsControl: true))
        }
        group.cancelAll()
      }
      try await group.waitForAll()
    }
    await watched.end()
  }

  /// Prints lines until the dashboard can be opened or a signal arrives.
  private static func firstClient(_ watched: WatchedProxy, _ lines: ProxyLines) async throws -> InspectionAddress? {
    let interruptions = Surroundings.current.interruptions()
    let causes = interruptions.causes
    defer { withExtendedLifetime(interruptions) {} }
    return try await withThrowingTaskGroup(of: InspectionAddress?.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        _ = await causes.first { _ in true }
        return nil
      }
      group.addTask {
        if let address = await watched.addresses.first(where: { _ in true }) { return address }
        lines.show("The clients cannot be watched, so the dashboard does not open. The proxy continues.")
        try await Self.forever()
        return nil
      }
      group.addTask {
        try await lines.print()
        return nil
      }
      return try await group.next() ?? nil
    }
  }

  @MainActor
  private static func dashboard(_ start: ScreenStart, _ attachment: Attachment) async throws {
    var options = start.options(
      StorageOptions.Locations(
        database: attachment.greeting.database, cache: .memory, backend: .embedded(folder: nil)))
    options.subject = .program(attachment)
    try await start.run(options)
  }

  private static func forever() async throws {
    let (never, continuation) = AsyncStream.makeStream(of: Never.self)
    for await _ in never {}
    continuation.finish()
    try Task.checkCancellation()
  }

  /// - Returns: whether the last command was `quit`.
  private static func followWords(
    _ server: ProxyServer, _ lines: ProxyLines, _ watched: WatchedProxy?
  ) async -> Bool {
    let input = PlainInput.lines()
    for await line in input.stream {
      defer { input.room.signal() }
      let words = line.trimming()
      switch words {
      case "": continue
      case "quit": return true
      case "help": for line in help { lines.show(line) }
      case "faults": lines.say(server.settings.isCalm ? "no faults" : server.settings.summary)
      default:
        let text = String(words.hasPrefix("fault ") ? words.dropFirst("fault ".count) : words)
        do {
          let change = try FaultText.parse(text)
          try await server.perform(change)
          watched?.noteFaults()
          lines.say(FaultText.account(of: change))
        } catch let error as TextError {
          lines.say("not understood: \(error)")
        } catch {
          lines.say("rejected: \((error as? RPCStatus)?.message ?? "\(error)")")
        }
      }
    }
    return false
  }

  private static var help: [String] {
    FaultText.forms.map { $0.rest.isEmpty ? $0.word : "\($0.word) \($0.rest)" } + ["faults, help, quit"]
  }
}

extension ProxyServer.Configuration {
  /// The address for clients. It contains the port that the proxy listens on.
  fileprivate func address(_ port: Int) -> String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
