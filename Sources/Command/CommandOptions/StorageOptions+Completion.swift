// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput

/// The source of backend options that the command line left out.
package struct StorageCompletion: Codable, Hashable, Sendable {
  /// The named connection that supplies them; `nil` for none.
  package var connection: NamedConnection?
}

extension StorageOptions {
  /// Whether every write is refused, by the named connection or the shell.
  package var isReadOnly: Bool { completion?.connection?.isReadOnly == true || Surroundings.current.isReadOnly }

  /// Takes the options that are not given from the named connection, or from the shell in which the command runs.
  package mutating func complete() throws {
    completion = StorageCompletion()
    if let connection {
      do {
        let named = try ConnectionsFile.read(.ofProcess).connection(named: connection)
        do { try adopt(named) } catch let error as ValidationError {
          throw CommandFailure(.configuration, "\(named.place): [\(named.name)] \(error.message)")
        }
      } catch let failure as CommandFailure {
        throw ParsingFailure.told(failure)
      }
    } else if given.isEmpty {
      Surroundings.current.complete(&self)
    }
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

  /// - Throws: `CommandFailure` for an option that contradicts the connection, `ValidationError` for an error in the
  ///   connection.
  private mutating func adopt(_ named: NamedConnection) throws {
    if let option = given.first {
      throw CommandFailure(
        .usage,
        "\(option: "connection") \(named.name) and \(option: option) both say which backend. Leave one of them out.")
    }
    for (option, mine, theirs) in [
      ("project", project, named.project), ("database", database, named.database), ("cache", cache, named.cache),
    ] {
      guard let mine, let theirs, mine != theirs else { continue }
      throw CommandFailure(
        .usage,
        "\(option: "connection") \(named.name) says \(theirs), and \(option: option) says \(mine). "
          + "Leave one of them out.")
    }
    (remote.emulator, remote.cloud, remote.credentials) = (named.emulator, named.isCloud, named.credentials)
    (remote.host, remote.trust, data) = (named.host, named.trust, named.data)
    remote.adminSecret = named.adminSecret
    (project, database, cache) = (project ?? named.project, database ?? named.database, cache ?? named.cache)
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
