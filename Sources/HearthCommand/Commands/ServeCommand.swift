// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Dispatch
import FirestoreBackend
import FirestoreModel
import FirestoreServer
import Foundation
import Glibc

/// `hearth serve`: the embedded backend as a google.firestore.v1 server.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve the embedded backend to Firestore SDKs and other Hearths.",
    discussion: """
      Speaks google.firestore.v1 over gRPC, as Cloud Firestore does; point SDKs at it with \
      FIRESTORE_EMULATOR_HOST=HOST:PORT. Projects and databases come into being when they are first named. On the same \
      port, GET / says that it is up and DELETE /emulator/v1/projects/P/databases/D/documents empties a database. \
      SIGTERM and SIGINT end it when running requests are done.
      """)

  @Option(help: ArgumentHelp("The address to listen on.", valueName: "address"))
  var host = "127.0.0.1"

  @Option(help: ArgumentHelp("The port to listen on; 0 lets the system choose.", valueName: "number"))
  var port = 8080

  @Option(help: ArgumentHelp("Where the data is kept; made if absent.", valueName: "directory"))
  var data: String?

  @Flag(help: "Keep everything in memory and forget it at the end.")
  var inMemory = false

  @Option(help: ArgumentHelp("A PEM file with the certificate chain, to serve TLS.", valueName: "file"))
  var tlsCert: String?

  @Option(help: ArgumentHelp("A PEM file with the certificate's private key.", valueName: "file"))
  var tlsKey: String?

  func validate() throws {
    if !(0...65_535).contains(port) { throw ValidationError("--port \(port) is not a port; it is 0 to 65535.") }
    if (tlsCert == nil) != (tlsKey == nil) { throw ValidationError("--tls-cert and --tls-key go together.") }
    for file in [tlsCert, tlsKey].compactMap({ $0 }) where access(file, R_OK) != 0 {
      throw ValidationError("\(file) cannot be read: \(String(cString: strerror(errno))).")
    }
    if inMemory, data != nil { throw ValidationError("--data and --in-memory exclude each other.") }
  }

  func run() async throws {
    let directory = data ?? Paths(environment: ProcessInfo.processInfo.environment).data + "/backend"
    let location: BackendConfiguration.Location = inMemory ? .memory : .directory(directory)
    do {
      let backend = try LocalBackend(
        BackendConfiguration(location: location, now: { .now }), on: FirestoreServer.executor)
      if let moved = backend.movedAside {
        StandardError.write("hearth: the database was damaged and is now \(moved); serving an empty one.")
      }
      let tls = tlsCert.flatMap { certificate in
        tlsKey.map { FirestoreServer.Configuration.TLS(certificate: certificate, key: $0) }
      }
      let server = FirestoreServer(
        FirestoreServer.Configuration(host: host, port: port, tls: tls), backend: backend)
      try await serve(with: server)
    } catch let error as BackendError {
      throw CommandFailure(opening: error)
    } catch let error as RPCStatus {
      throw CommandFailure(ExitStatus.unavailable, error.message)
    }
  }

  private func serve(with server: FirestoreServer) async throws {
    let (stops, stop) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let sources = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { stop.yield() }
      source.resume()
      return source
    }
    defer { for source in sources { source.cancel() } }
    let (host, isSecure) = (host, tlsCert != nil)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await server.run { port in
          let address = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
          let line = "Serving google.firestore.v1 on \(address)\(isSecure ? " with TLS" : ""). Ctrl-C ends it.\n"
          // Whoever waits for the line has it at once; a server that can tell nobody serves all the same.
          try? OutputFile.print(line)
        }
      }
      group.addTask {
        for await _ in stops { await server.shutDown() }
      }
      _ = try await group.next()
      group.cancelAll()
    }
  }
}
