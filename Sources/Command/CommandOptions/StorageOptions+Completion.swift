// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput

/// The source of backend options that the command line left out.
package struct StorageCompletion: Codable, Hashable, Sendable {
  /// The named connection that supplies them; `nil` for none.
  package var connection: NamedConnection?
  /// The way in which the connection was chosen, where no option names it.
  package var source: DefaultConnection.Source?
  /// Whether the command line names a place: a connection, a server, a folder of data or of a cache.
  var isNamed = false
}

extension StorageOptions {
  /// Whether every write is refused, by the named connection or the shell.
  package var isReadOnly: Bool { completion?.connection?.isReadOnly == true || Surroundings.current.isReadOnly }

  /// Whether the command line itself says where to go, and not the environment or a default.
  package var isPlaceNamed: Bool { completion?.isNamed == true }

  /// Takes the options that are not given from the named connection, or from the shell in which the command runs.
  package mutating func complete() throws {
    var completion = StorageCompletion()
    completion.isNamed = connection != nil || cache != nil || given.contains { $0 != "in-memory" }
    self.completion = completion
    if let connection {
      do throws(CommandFailure) { try adopt(connection) } catch { throw ParsingFailure.told(error) }
    } else if given.isEmpty {
      try Surroundings.current.complete(&self)
    }
  }

  /// Takes the options that are not given from the connection that is used where none is named, if there is one.
  package mutating func completeByDefault() throws {
    guard let usual = DefaultConnection(.ofProcess, Self.environment) else { return }
    do throws(CommandFailure) { try adopt(usual.name, from: usual.source) } catch {
      throw ParsingFailure.told(CommandFailure(error.status, "\(error.message) \(usual.source.remark)"))
    }
  }

  /// - Parameter source: `nil` if an option names the connection: then options that say otherwise are refused.
  private mutating func adopt(_ name: String, from source: DefaultConnection.Source? = nil) throws(CommandFailure) {
    let named = try ConnectionsFile.read(.ofProcess).connection(named: name)
    if source == nil { try checkAgreement(with: named) }
    do {
      try adopt(named)
    } catch {
      throw CommandFailure(
        .configuration, "\(named.place): [\(named.name)] \((error as? ValidationError)?.message ?? "")")
    }
    completion?.source = source
  }

  /// The names of the given options that choose a backend.
  private var given: [String] {
    let all = [
      ("emulator", remote.emulator != nil), ("cloud", remote.cloud), ("credentials", remote.credentials != nil),
      ("host", remote.host != nil), ("admin-secret", remote.adminSecret != nil), ("trust", remote.trust != nil),
      ("insecure-credentials", remote.insecureCredentials), ("data", data != nil), ("in-memory", inMemory),
    ]
    return all.filter(\.1).map(\.0)
  }

  /// - Throws: for an option that contradicts the connection.
  private func checkAgreement(with named: NamedConnection) throws(CommandFailure) {
    if let option = given.first {
      throw CommandFailure(
        .usage,
        "--connection \(named.name) and --\(option) both say which backend. Leave one of them out.")
    }
    for (option, mine, theirs) in [
      ("project", project, named.project), ("database", database, named.database), ("cache", cache, named.cache),
    ] {
      guard let mine, let theirs, mine != theirs else { continue }
      throw CommandFailure(
        .usage,
        "--connection \(named.name) says \(theirs), and --\(option) says \(mine). "
          + "Leave one of them out.")
    }
  }

  /// - Throws: `ValidationError` for an error in the connection.
  private mutating func adopt(_ named: NamedConnection) throws {
    let isSameDatabase = (project ?? named.project) == named.project && (database ?? named.database) == named.database
    (remote.emulator, remote.cloud, remote.credentials) = (named.emulator, named.isCloud, named.credentials)
    (remote.host, remote.trust, data) = (named.host, named.trust, named.data)
    remote.adminSecret = named.adminSecret
    (project, database) = (project ?? named.project, database ?? named.database)
    // A cache belongs to one database.
    if isSameDatabase { cache = cache ?? named.cache }
    completion?.connection = named
    try remote.validate()
  }

  /// Takes over a shell's options; its cache belongs to one database and is not used for another.
  package mutating func inherit(_ base: StorageOptions) {
    let isSameDatabase = project == nil && database == nil
    remote = base.remote
    (data, inMemory) = (base.data, base.inMemory)
    if isSameDatabase, cache == nil { cache = base.cache }
    (project, database) = (project ?? base.project, database ?? base.database)
    completion = base.completion
  }
}
