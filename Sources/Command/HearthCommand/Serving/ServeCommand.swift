// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import Dispatch
import Foundation
import Glibc

/// `hearth serve`: the embedded backend as a google.firestore.v1 server.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve the embedded backend to Firestore SDKs and other Hearths.",
    discussion: """
      Speaks google.firestore.v1 over gRPC, as Cloud Firestore does, and to browsers over WebChannel; point SDKs at it with \
      FIRESTORE_EMULATOR_HOST=HOST:PORT. Projects and databases come into being when they are first named. The data is in \
      memory, as with Google's emulator, unless --data or --local names a folder. A firebase.json in the working directory \
      supplies rules, address and project. On the same port, GET /health says that it is up and DELETE /emulator/v1/projects/P/databases/D/documents empties a database, or \
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

  @Flag(help: "Print only the port to standard output when connections are accepted.")
  var printPort = false

  @OptionGroup var options: ServeOptions

  mutating func run() async throws {
    let run = try ServeRun(options, usualPort: 8080)
    let manager = serviceManager
    let stop = StopSignal { manager(.stopping) }
    // A server that must outlive its terminal (nohup) ignores SIGHUP.
    let numbers = [SIGTERM, SIGINT] + (ShellSignals.isIgnored(SIGHUP) ? [] : [SIGHUP])
    let signals = await HeardSignals(numbers) { _ in stop.stop() }
    defer { signals.cancel() }
    let (options, data, printsPort) = (run.options, run.data, printPort)
    try await run.run(until: stop) { address in
      let tls = options.tlsCert.map { _ in " with TLS" } ?? ""
      let text: ShownText = """
        Serving google.firestore.v1 on \(address.bound)\(tls). \(data.text) Ctrl-C ends it.
        \(Self.way(to: address, options))
        Dev App Server is now running.

        """
      manager(.ready("Serving google.firestore.v1 on \(address.bound)\(tls)"))
      if printsPort {
        StandardError.write("hearth: Serving google.firestore.v1 on \(address.bound)\(tls). \(data.text)")
      }
      // A script that waits for the first line gets it immediately; a missing reader does not stop the server.
      try? OutputFile.print(printsPort ? "\(address.port)\n" : text)
    }
  }

  /// Instructions for connecting a program or another Hearth on this machine.
  private static func way(to address: ServedAddress, _ options: ServeOptions) -> ShownText {
    guard let certificate = options.tlsCert else { return "export FIRESTORE_EMULATOR_HOST=\(address.local)" }
    let secret = options.access.adminSecret.map { " --admin-secret \($0)" } ?? ""
    return "hearth --emulator \(address.local) --trust \(certificate)\(secret)"
  }

  /// Notifies the service manager that started this process, if any. A failed notification is reported on standard
  /// error.
  private var serviceManager: @Sendable (ServiceManager.Notice) -> Void {
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

/// Signals that this process handles instead of ending.
final class HeardSignals {
  private var sources: [any DispatchSourceSignal] = []

  /// Returns when this process handles all of the signals. A signal before that would be lost.
  /// - Parameter body: called with the number of each signal.
  init(_ numbers: [Int32], _ body: @escaping @Sendable (Int32) -> Void) async {
    for number in numbers {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { body(number) }
      sources.append(source)
      await withCheckedContinuation { registered in
        source.setRegistrationHandler { registered.resume() }
        source.resume()
      }
    }
  }

  func cancel() { for source in sources { source.cancel() } }
}
