// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import Dispatch
import Foundation
import Glibc

/// `hearth serve`: serves the embedded backend with the protocol google.firestore.v1.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve the embedded backend to Firestore SDKs and other hearth processes.",
    discussion: """
      Serves google.firestore.v1 over gRPC, as Cloud Firestore does, and over WebChannel to browsers. Set \
      FIRESTORE_EMULATOR_HOST=HOST:PORT for SDKs. Projects and databases are created on first use. The data is in \
      memory, as with Google's emulator, unless --data or --local names a folder. A firebase.json in the working \
      directory supplies rules, address and project.

      On the same port, GET /health reports that the server is running. DELETE \
      /emulator/v1/projects/P/databases/D/documents empties a database. With the path of a collection or document at \
      the end, it deletes this collection or document and everything below it.

      --rules FILE enforces security rules on everyone except administrators ('Authorization: Bearer owner', which \
      server SDKs send to an emulator). User tokens are accepted unsigned, as in Google's emulator, unless you set \
      --auth-keys.

      On 127.0.0.1 every client can control the server: export, clear, reset and stop it, replace rules, and watch \
      their decisions. With --auth-keys, control needs the secret of --admin-secret, also on 127.0.0.1. A --host that \
      other machines can reach needs --rules or --open, and limits connections against floods. With --open only this \
      process can replace rules.

      If a dashboard or another process has the data open, it releases the data and attaches to this process. Another \
      hearth serve does not release the data; the error names its process. Only you may read the files of --tls-key \
      and --admin-secret (chmod 600).

      Browsers allow six connections to a host, and the Web SDK uses two for each tab, so a third tab waits. With \
      --tls-cert browsers use HTTP/2 and no tab waits. Pages of hosts other than the server's host and localhost are \
      rejected unless --allow-origin allows them. Each rejected host is reported once.

      SIGTERM, SIGINT and a closed terminal (SIGHUP) stop the server after running requests have ended. A service \
      manager that sets NOTIFY_SOCKET, such as systemd with Type=notify, is notified when the server accepts \
      connections and when it stops.
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

  /// Text about how a program or another Hearth on this machine connects to the server.
  private static func way(to address: ServedAddress, _ options: ServeOptions) -> ShownText {
    guard let certificate = options.tlsCert else { return "export FIRESTORE_EMULATOR_HOST=\(address.local)" }
    let secret = options.access.adminSecret.map { " --admin-secret \($0)" } ?? ""
    return "hearth --emulator \(address.local) --trust \(certificate)\(secret)"
  }

  /// Notifies the service manager if one started this process. If this fails, the failure is reported on standard
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

/// Handles signals, which then no longer end the process.
final class HeardSignals {
  private var sources: [any DispatchSourceSignal] = []

  /// Returns when all of the signals are handled. A signal that arrives earlier would be lost.
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
