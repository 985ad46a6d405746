// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import DashboardHost
import FirestoreAccess
import FirestoreBackend
import FirestoreClientState
import FirestoreEmulator
import FirestoreModel
import FirestoreSQLite
import FirestoreServer
import FirestoreSharing
import Foundation
import Glibc

/// A run of a server. It imports data at the start and exports data at the end, if requested.
struct ServeRun: Sendable {
  let options: ServeOptions
  let data: ServedData
  private let address: (host: String, port: Int)

  /// - Parameters:
  ///   - options: the options of the command line. Omitted options are taken from `firebase.json`.
  ///   - usualPort: the port that is used if neither the options nor the file contains one.
  init(_ given: ServeOptions, usualPort: Int) throws {
    var options = given
    if options.logFormat == .json { StandardError.writesJSON() }
    try options.complete(from: try FirebaseProject.read(options.config))
    for remark in options.emulator.remarks { StandardError.write("hearth: \(remark)") }
    address = try options.emulator.address() ?? (options.host ?? "127.0.0.1", options.port ?? usualPort)
    data = ServedData(options, .ofProcess)
    self.options = options
  }

  /// Serves until a stop is requested.
  /// - Parameters:
  ///   - ready: called once, when connections can be accepted.
  ///   - ended: called after the last connection has ended, with the rules and their evaluation counts.
  /// - Throws: `CommandFailure` with the reason why it cannot serve.
  func run(
    until stop: StopSignal, ready: @escaping @Sendable (ServedAddress) -> Void,
    ended: @Sendable (AccessRules) -> Void = { _ in }
  ) async throws {
    let access = options.access
    let environment = ProcessInfo.processInfo.environment
    let exports = try ServedExports(options.emulator, environment: environment)
    let seed = try ServedSeed(options.seed, project: options.emulator.projectID, environment: environment)
    try ServedTLSFiles.check(certificate: options.tlsCert, key: options.tlsKey)
    var configuration = EmulatorServer.Configuration(
      host: address.host, port: address.port, tls: tls, maximumConnections: options.maxConnections)
    // Listening reports an unknown host.
    let isLoopback = (try? configuration.isLoopback) ?? true
    if !isLoopback { try checkIsMeant(of: address.host) }
    let served = try ServedRules(access, isLoopback: isLoopback)
    configuration.rules = served.rules
    configuration.allowedOrigins = Set(access.allowOrigin)
    configuration.protectsData = data.isProtected
    configuration.report = { StandardError.write("hearth: \($0)") }
    configuration.stop = { stop.stop() }
    configuration.log = options.logFormat.map { RequestLines($0, served.rules).log }
    let required = try RequiredIndexes(access.requireIndexes)
    configuration.indexes = required.indexes
    configuration.concurrency = access.concurrency.mode
    let watches = await served.watch() + [await required.watch()]
    defer { Task { @MainActor in for watch in watches { watch?.stop() } } }
    do {
      let source = try source()
      if case .shared(let data) = source {
        JobControl.letsGo(of: data)
        if case .attached(let owner) = data.peers.role {
          try await ServedPort.claim(data, for: access.enforced)
          let purpose = access.enforced.map { "to enforce \($0)" } ?? "to serve it"
          StandardError.write("hearth: \(owner) has released the data to this process \(purpose).")
        }
      }
      try await exports.begin(with: source, isKept: data != .memory)
      try await seed?.fill(source)
      let (host, readyFile) = (address.host, options.readyFile.map { ReadyFile($0) })
      let port = ServedPort(configuration, source) { StandardError.write("hearth: \($0)") }
      defer { readyFile?.remove() }
      try await port.run(until: stop) { port in
        let address = ServedAddress(host: host, port: port)
        readyFile?.write(address.local)
        ready(address)
      }
      ended(served.rules)
      try await exports.end(with: source)
    } catch let error as StoreError {
      throw CommandFailure(opening: error)
    } catch let error as RPCStatus {
      throw CommandFailure(ExitStatus.unavailable, error.message)
    }
  }

  private var tls: EmulatorServer.Configuration.TLS? {
    guard let certificate = options.tlsCert, let key = options.tlsKey else { return nil }
    return EmulatorServer.Configuration.TLS(certificate: certificate, key: key)
  }

  private func source() throws -> PortSource {
    let tell: @Sendable (String) -> Void = { StandardError.write("hearth: \($0)") }
    guard let folder = data.folder else {
      var configuration = BackendConfiguration(location: .memory, now: { .now })
      configuration.objection = options.emulator.objection(tell)
      return .memory(
        try LocalBackend(configuration, on: ServerThread.executor, pause: ServerThread.pause))
    }
    return .shared(
      try SharedData.open(
        folder, durability: options.sync, as: ProgramName.ofProcess, pausesForPort: true,
        report: tell, objection: options.emulator.objection(tell)))
  }

  /// Throws if the address is reachable from other machines and there are no rules, unless the user allowed this.
  private func checkIsMeant(of host: String) throws {
    let access = options.access
    if !access.hasRules, !access.open {
      throw CommandFailure(
        .usage,
        "other machines can reach \(host), and no security rules protect it. Add --rules FILE, or --open to let everyone "
          + "read and write everything.")
    }
    if !access.hasRules {
      StandardError.write(
        "hearth: other machines can reach \(host). Without security rules everyone can read and write everything. No client "
          + "can set rules, export data or stop the server. To allow administrators to do so, use --rules.")
    } else if access.authKeys == nil {
      StandardError.write(
        "hearth: other machines can reach \(host), and unsigned tokens are accepted: everyone can act as any user or as an "
          + "administrator. With --auth-keys only signed tokens are accepted.")
    }
  }
}

/// The address of a server.
struct ServedAddress: Hashable, Sendable {
  /// The address on which the server listens.
  let bound: String
  /// The address with which a program on this machine connects.
  let local: String
  let port: Int

  init(host: String, port: Int) {
    func address(_ host: String) -> String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    self.port = port
    bound = address(host)
    local = address(["0.0.0.0": "127.0.0.1", "::": "::1"][host] ?? host)
  }
}

/// A file that contains the server's address for other programs. It exists while the server is running.
private struct ReadyFile {
  let path: String

  init(_ path: String) { self.path = path }

  /// Writes the address to the file atomically.
  func write(_ address: String) {
    let part = "\(path).part-\(getpid())"
    do {
      try "\(address)\n".write(toFile: part, atomically: false, encoding: .utf8)
      guard rename(part, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    } catch {
      unlink(part)
      StandardError.write("hearth: --ready-file \(path) cannot be written. Programs that wait for it are not notified.")
    }
  }

  func remove() { unlink(path) }
}

/// Checks the files of `--tls-cert` and `--tls-key` before the server starts.
private enum ServedTLSFiles {
  /// - Throws: `CommandFailure` for a missing or unreadable file. Like ssh, also rejects a key file of this user that
  ///   other users can read or change.
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
      "Other users can access the private key \(key) (mode 0\(String(status.st_mode & 0o777, radix: 8))). Run "
        + "'chmod 600 \(key)'.")
  }
}
