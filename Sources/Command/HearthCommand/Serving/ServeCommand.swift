// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import DashboardHost
import Dispatch
import FirestoreBackend
import FirestoreClientState
import FirestoreEmulator
import FirestoreModel
import FirestoreSQLite
import FirestoreServer
import FirestoreSharing
import Foundation
import Glibc

/// `hearth serve`: the embedded backend as a google.firestore.v1 server.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve the embedded backend to Firestore SDKs and other Hearths.",
    discussion: """
      Speaks google.firestore.v1 over gRPC, as Cloud Firestore does, and to browsers over WebChannel; point SDKs at it with \
      FIRESTORE_EMULATOR_HOST=HOST:PORT. Projects and databases come into being when they are first named. On the same \
      port, GET / says that it is up and DELETE /emulator/v1/projects/P/databases/D/documents empties a database, or \
      with the path of a collection or document behind it removes that with all below it. --rules FILE enforces security \
      rules on all but administrators ('Authorization: Bearer owner', as server SDKs send to an emulator); tokens of \
      users are believed unsigned, as Google's emulator does, unless there are --auth-keys. \
      On 127.0.0.1 whoever connects controls the server: exports, empties, resets and ends it, replaces rules, watches \
      what they decide. With --auth-keys that takes the secret of --admin-secret, on 127.0.0.1 too. A --host that others \
      reach asks for --rules or --open, and holds connections to the usual limits against floods; with --open nobody but \
      this process replaces rules. A dashboard, or whatever else has the data open, lets it go and is attached to this \
      process; another hearth serve keeps it, and is named. A --tls-key of yours must be yours alone (chmod 600), and so must a secret. Browsers have \
      six connections to a host, and the Web SDK keeps two for each tab, so that a third tab waits; with --tls-cert they \
      speak HTTP/2 and none waits. Pages of other hosts than the server's and localhost are refused unless \
      --allow-origin names them; each is told of once, here. SIGTERM, SIGINT and a closed \
      terminal (SIGHUP) end it when running requests are done. A service manager that set NOTIFY_SOCKET, as systemd for \
      Type=notify, is told when connections are accepted and when the end begins.
      """)

  @Option(help: ArgumentHelp("The address to listen on. (default: 127.0.0.1)", valueName: "address"))
  var host: String?

  @Option(help: ArgumentHelp("The port to listen on; 0 lets the system choose. (default: 8080)", valueName: "number"))
  var port: Int?

  @Option(help: ArgumentHelp("Where the data is kept; made if absent.", valueName: "directory"))
  var data: String?

  @Flag(help: "Keep everything in memory and forget it at the end.")
  var inMemory = false

  @Option(
    help: ArgumentHelp(
      "Begin with the documents of a file in any form that 'hearth import' reads and that has their paths, unless the "
        + "database has some. Without --data they are kept in memory only.", valueName: "file"))
  var seed: String?

  @OptionGroup(title: "Access") var access: AccessOptions
  @OptionGroup(title: "As Google's emulator") var emulator: EmulatorOptions

  @Option(help: BackendConfiguration.Durability.help)
  var sync = BackendConfiguration.Durability.full

  @Option(help: ArgumentHelp("A PEM file with the certificate chain, to serve TLS.", valueName: "file"))
  var tlsCert: String?

  @Option(help: ArgumentHelp("A PEM file with the certificate's private key.", valueName: "file"))
  var tlsKey: String?

  @Option(
    help: ArgumentHelp(
      "How many connections there may be at a time; fewer where the system lets the process open fewer files. One more "
        + "takes the place of one that says nothing, or is told so and ended.", valueName: "number"))
  var maxConnections = EmulatorServer.Configuration.usualMaximumConnections

  func validate() throws {
    if maxConnections < 1 { throw ValidationError("--max-connections \(maxConnections) would serve nobody.") }
    if let port, !(0...65_535).contains(port) {
      throw ValidationError("--port \(port) is not a port; it is 0 to 65535.")
    }
    if emulator.hostPort != nil, host != nil || port != nil {
      throw ValidationError("--host-port says where to listen, as --host and --port do: leave out one or the other.")
    }
    if (tlsCert == nil) != (tlsKey == nil) { throw ValidationError("--tls-cert and --tls-key go together.") }
    if seed != nil, emulator.importData != nil {
      throw ValidationError("--seed and --import-data both fill the database. Remove one of them.")
    }
    if inMemory, data != nil { throw ValidationError("--data and --in-memory exclude each other.") }
  }

  mutating func run() async throws {
    let (host, port) = try emulator.address() ?? (host ?? "127.0.0.1", port ?? 8080)
    for remark in emulator.remarks { StandardError.write("hearth: \(remark)") }
    // Imported data belongs to the emulator's run and is discarded at its end.
    if emulator.importData != nil || seed != nil, data == nil { inMemory = true }
    let environment = ProcessInfo.processInfo.environment
    let exports = try ServedExports(emulator, environment: environment)
    let seed = try ServedSeed(seed, project: emulator.projectID, environment: environment)
    let directory = data ?? Paths.ofProcess.data + "/backend"
    try ServedTLSFiles.check(certificate: tlsCert, key: tlsKey)
    let tls = tlsCert.flatMap { certificate in
      tlsKey.map { EmulatorServer.Configuration.TLS(certificate: certificate, key: $0) }
    }
    var configuration = EmulatorServer.Configuration(
      host: host, port: port, tls: tls, maximumConnections: maxConnections)
    // Listening reports an unknown host.
    let isLoopback = (try? configuration.isLoopback) ?? true
    if !isLoopback { try checkIsMeant(of: host) }
    let served = try ServedRules(access, isLoopback: isLoopback)
    configuration.rules = served.rules
    configuration.allowedOrigins = Set(access.allowOrigin)
    configuration.report = { StandardError.write("hearth: \($0)") }
    let required = try RequiredIndexes(access.requireIndexes)
    configuration.indexes = required.indexes
    let watches = [await served.watch(), await required.watch()]
    defer { Task { @MainActor in for watch in watches { watch?.stop() } } }
    do {
      let source = try source(in: directory)
      if case .shared(let data) = source {
        JobControl.letsGo(of: data)
        if case .attached(let owner) = data.company.standing {
          try await ServedPort.claim(data, for: access.enforced)
          let purpose = access.enforced.map { "\($0) to be enforced" } ?? "it to be served"
          StandardError.write("hearth: \(owner) had the data open and has let it go, for \(purpose) here.")
        }
      }
      let place = inMemory ? "in memory, until this ends" : URL(filePath: directory).standardizedFileURL.path
      try await exports.begin(with: source, isKept: !inMemory)
      try await seed?.fill(source)
      try await serve(source, at: configuration, place: place)
      try await exports.end(with: source)
    } catch let error as StoreError {
      throw CommandFailure(opening: error)
    } catch let error as RPCStatus {
      throw CommandFailure(ExitStatus.unavailable, error.message)
    }
  }

  private func source(in directory: String) throws -> PortSource {
    let tell: @Sendable (String) -> Void = { StandardError.write("hearth: \($0)") }
    if inMemory {
      var configuration = BackendConfiguration(location: .memory, now: { .now })
      configuration.objection = emulator.objection(tell)
      return .memory(
        try LocalBackend(configuration, on: ServerThread.executor, pause: ServerThread.pause))
    }
    return .shared(
      try SharedData.open(
        directory, durability: sync, as: ProgramName.ofProcess, pausesForPort: true,
        report: tell, objection: emulator.objection(tell)))
  }

  /// Refuses to listen for other machines without rules, unless the user requested it.
  private func checkIsMeant(of host: String) throws {
    if access.rules == nil, !access.open {
      throw CommandFailure(
        .usage,
        "others can reach \(host), and there are no security rules: add --rules FILE, or --open to let whoever reaches it "
          + "read and write everything.")
    }
    if access.rules == nil {
      StandardError.write(
        "hearth: others can reach \(host). There are no security rules: whoever does may read and write everything. Nobody "
          + "may give it rules, export to files or end it: for that, serve with --rules.")
    } else if access.authKeys == nil {
      StandardError.write(
        "hearth: others can reach \(host), and tokens are believed unsigned: whoever does may say to be any user, or an "
          + "administrator. With --auth-keys only signed ones are believed.")
    }
  }

  /// The text around the address that a program or another Hearth on this machine uses to connect.
  private var way: (before: String, behind: String) {
    guard let tlsCert else { return ("export FIRESTORE_EMULATOR_HOST=", "") }
    let secret = access.adminSecret.map { " --admin-secret \($0)" } ?? ""
    return ("hearth --emulator ", " --trust \(tlsCert)\(secret)")
  }

  /// - Parameter place: the location of the data, for the user.
  private func serve(
    _ source: PortSource, at configuration: EmulatorServer.Configuration, place: String
  ) async throws {
    let manager = serviceManager
    let stop = StopSignal { manager(.stopping) }
    var configuration = configuration
    configuration.stop = { stop.stop() }
    var sources: [any DispatchSourceSignal] = []
    // A server that must outlive its terminal (nohup) ignores SIGHUP.
    for number in [SIGTERM, SIGINT] + (ShellSignals.isIgnored(SIGHUP) ? [] : [SIGHUP]) {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { stop.stop() }
      sources.append(source)
      // A signal before its source is registered would be lost.
      await withCheckedContinuation { registered in
        source.setRegistrationHandler { registered.resume() }
        source.resume()
      }
    }
    defer { for source in sources { source.cancel() } }
    let (host, isSecure, way) = (configuration.host, tlsCert != nil, way)
    let served = ServedPort(configuration, source) { StandardError.write("hearth: \($0)") }
    try await served.run(until: stop) { port in
      let address = ServedAddress(host: host, port: port)
      let text: ShownText = """
        Serving google.firestore.v1 on \(address.bound)\(isSecure ? " with TLS" : ""). Ctrl-C ends it.
        Data: \(place)
        \(way.before)\(address.local)\(way.behind)
        Dev App Server is now running.

        """
      manager(.ready("Serving google.firestore.v1 on \(address.bound)\(isSecure ? " with TLS" : "")"))
      // A script that waits for the first line gets it immediately; a missing reader does not stop the server.
      try? OutputFile.print(text)
    }
  }

  /// Notifies the service manager that started this process, if any. A failed notification is reported on standard
  /// error.
  private var serviceManager: @Sendable (ServiceManager.News) -> Void {
    do throws(ServiceManagerError) {
      guard let manager = try ServiceManager(environment: ProcessInfo.processInfo.environment) else { return { _ in } }
      return { news in
        do throws(ServiceManagerError) { try manager.tell(news) } catch { StandardError.write("hearth: \(error.text)") }
      }
    } catch {
      StandardError.write("hearth: \(error.text)")
      return { _ in }
    }
  }
}

/// The address of a server.
private struct ServedAddress {
  /// The address that the server listens on.
  let bound: String
  /// The address for a program on this machine.
  let local: String

  init(host: String, port: Int) {
    func address(_ host: String) -> String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    bound = address(host)
    local = address(["0.0.0.0": "127.0.0.1", "::": "::1"][host] ?? host)
  }
}

/// Checks the files of `--tls-cert` and `--tls-key` before anything is opened.
private enum ServedTLSFiles {
  /// - Throws: `CommandFailure` for a missing or unreadable file, and for a key of this user that others can read or
  ///   change, as in ssh.
  static func check(certificate: String?, key: String?) throws {
    for file in [certificate, key].compactMap({ $0 }) where access(file, R_OK) != 0 {
      let status: ExitStatus = errno == EACCES ? .permissionDenied : .noInput
      throw CommandFailure(status, "\(file) cannot be read: \(String(cString: strerror(errno))).")
    }
    guard let key else { return }
    var status = stat()
    guard stat(key, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o077 != 0 else { return }
    throw CommandFailure(
      .permissionDenied,
      "The private key \(key) is open to others (mode 0\(String(status.st_mode & 0o777, radix: 8))). Mend that with "
        + "'chmod 600 \(key)'.")
  }
}
