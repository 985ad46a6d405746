// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import DashboardHost
import Dispatch
import FirestoreClientState
import FirestoreGRPC
import FirestoreModel
import FirestoreProxy
import FirestoreText
import Foundation
import Terminal
import TerminalTheme

/// `hearth proxy`: between a client of any SDK and any server.
struct ProxyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "proxy", abstract: "Stand between any client and any server, tell what passes, and disturb it.",
    discussion: """
      Clients connect to the proxy in place of the server: gRPC, REST and WebChannel pass unchanged, and a line tells \
      each stream and each message, without the contents of documents. Words on standard input disturb it while it \
      runs: fault latency 200ms, write drop-ack, next read unavailable, down, up, calm; help lists them, quit ends it. \
      A write whose answer is dropped is applied by the server, and the client's connection breaks. A server that is \
      not there is unavailable (503). SIGINT and SIGTERM end it with 0; a port that is taken is 69.

      On a terminal a screen shows who is connected, who listens to what and what each target was sent, which writes \
      wait, and the last requests; o pulls the plug, : takes a fault by its words, q ends. --plain prints lines there.

      Example: hearth proxy --to 127.0.0.1:8080 --port 8081 --fault 'latency 100ms'
      """)

  @Option(help: ArgumentHelp("The server.", valueName: "host:port"))
  var to: String

  @Option(help: ArgumentHelp("The port to listen on; 0 lets the system choose.", valueName: "number"))
  var port: Int

  @Option(help: ArgumentHelp("The address to listen on.", valueName: "address"))
  var host = "127.0.0.1"

  @Flag(help: "Speak TLS with the server, as Cloud Firestore asks for. Clients speak plain text with the proxy.")
  var toTls = false

  @Option(
    help: ArgumentHelp(
      "Trust the certificates in this PEM file instead of the system's; implies --to-tls.", valueName: "file"))
  var trust: String?

  @Option(
    help: ArgumentHelp(
      "Begin with this fault: \"latency 200ms\", \"loss 10%\", \"next write drop-ack\"; repeatable. The manual's page "
        + "testing lists them.", valueName: "words"),
    transform: ProxyCommand.fault)
  var fault: [FaultChange] = []

  @Option(help: ArgumentHelp("The seed of chance, so that losses and jitter can be repeated.", valueName: "number"))
  var seed: UInt64 = 0

  @Flag(help: "Print JSON, an object for each stream and message.")
  var json = false

  @Flag(help: "Also tell the contents of messages of up to 64 KiB.")
  var values = false

  @Flag(name: .shortAndLong, help: "Tell no streams and messages.")
  var quiet = false

  @Flag(help: "Print lines on a terminal too, and show no screen.")
  var plain = false

  @OptionGroup var appearance: AppearanceOptions

  private static func fault(_ text: String) throws -> FaultChange {
    do throws(TextError) { return try FaultText.parse(text) } catch { throw ValidationError("\(error)") }
  }

  func validate() throws {
    if !(0...65_535).contains(port) { throw ValidationError("--port \(port) is not a port; it is 0 to 65535.") }
    if quiet, json || values { throw ValidationError("--quiet tells nothing; leave out --json and --values.") }
    do throws(ModelError) { _ = try target() } catch { throw ValidationError(error.message) }
  }

  private func target() throws(ModelError) -> Endpoint {
    let isTLS = toTls || trust != nil || to.lowercased().hasPrefix("https://")
    return try Endpoint(
      to, defaultPort: isTLS ? 443 : nil, security: isTLS ? .tls(trustRoots: trust) : .plaintext, from: "--to")
  }

  mutating func run() async throws {
    let target = try target()
    var configuration = ProxyServer.Configuration(host: host, port: port, target: target)
    (configuration.seed, configuration.faults, configuration.tellsValues) = (seed, fault, values)
    if !plain, !json, !quiet, !values, isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 {
      return try await showScreen(configuration)
    }
    let lines = ProxyLines(asJSON: json, hasContents: values)
    if !quiet { configuration.report = { lines.put($0) } }
    let server = ProxyServer(configuration)
    let interruptions = Surroundings.current.interruptions()
    let causes = interruptions.causes
    let local = configuration
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await server.run { port in
            lines.begin(from: local.address(port), to: target)
          }
        }
        group.addTask { _ = await causes.first { _ in true } }
        group.addTask { if await !Self.followWords(server, lines) { try await Self.forever() } }
        group.addTask { try await lines.print() }
        defer { group.cancelAll() }
        try await group.next()
      }
    } catch let status as RPCStatus {
      throw CommandFailure(ExitStatus.unavailable, status.message)
    }
    withExtendedLifetime(interruptions) {}
  }

  /// Runs the proxy with a screen on its traffic, until a key or a signal ends it.
  @MainActor
  private func showScreen(_ configuration: ProxyServer.Configuration) async throws {
    var configuration = configuration
    let inbox = TrafficInbox()
    configuration.report = { inbox.put($0) }
    let server = ProxyServer(configuration)
    let preferences = Preferences.read(Paths.ofProcess)
    let background = ProcessInfo.processInfo.environment["COLORFGBG"].flatMap(Theme.Variant.init(colorFGBG:))
    let theme = try appearance.theme(preferences, background: background).theme
    let terminal = TerminalPreferences(
      depth: appearance.depth(preferences), glyphs: preferences.file.glyphs?.choice, usesMouse: false)
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    var code: Int32 = 0
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        defer { group.cancelAll() }
        group.addTask {
          defer { continuation.finish() }
          try await server.run { continuation.yield($0) }
        }
        for await port in ports {
          let screen = try TrafficScreen(
            server, inbox, at: configuration.address(port), to: configuration.target.text, theme, terminal)
          code = await screen.run()
          group.cancelAll()
        }
        try await group.waitForAll()
      }
    } catch let status as RPCStatus {
      throw CommandFailure(ExitStatus.unavailable, status.message)
    }
    if code != 0 { throw ExitCode(code) }
  }

  private static func forever() async throws {
    let (never, continuation) = AsyncStream.makeStream(of: Never.self)
    for await _ in never {}
    continuation.finish()
    try Task.checkCancellation()
  }

  /// - Returns: whether the last word was `quit`.
  private static func followWords(_ server: ProxyServer, _ lines: ProxyLines) async -> Bool {
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
          lines.say(FaultText.account(of: change))
        } catch let error as TextError {
          lines.say("not understood: \(error)")
        } catch {
          lines.say("refused: \((error as? RPCStatus)?.message ?? "\(error)")")
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
  /// The address for clients, with the port that is bound.
  fileprivate func address(_ port: Int) -> String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
