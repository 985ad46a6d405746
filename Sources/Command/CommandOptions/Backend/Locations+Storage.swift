// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import FirestoreBackend
package import FirestoreLocal
package import FirestoreSQLite
import FirestoreSync

extension StorageOptions.Locations {
  /// Opens the way to the database; unusable data is an error.
  package func connect() throws(CommandFailure) -> BackendConnection { try BackendConnection.open(backend, database) }

  /// The cache of a command's client that may send: in memory, unless a user named one, since the writes that wait in
  /// the dashboard's own cache are for the dashboard to send.
  package func commandStore(for connection: BackendConnection) -> LocalStoreConfiguration {
    var store = store(for: connection, .never)
    if !isCacheNamed { store.location = .memory }
    return store
  }

  /// The cache of a client that may send; its identity must be that of the connection's database.
  /// - Parameter reports: the way of remarks about the cache to a screen.
  package func store(
    for connection: BackendConnection, _ policy: GarbageCollectionPolicy, reports: StorageReports = StorageReports()
  ) -> LocalStoreConfiguration {
    // An empty backend in place of unusable data must not get the writes that wait in the cache.
    guard let identity = connection.identity else {
      return LocalStoreConfiguration(location: .memory, policy: policy, database: database)
    }
    return LocalStoreConfiguration(
      location: cache, policy: policy, database: database,
      claim: CacheClaim(identity, replacesOthers: isBesideData),
      report: reports.report("hearth.cache"))
  }

  /// Whether the cache lies in the folder of the embedded backend's data.
  private var isBesideData: Bool {
    if case .embedded = backend { return !isCacheNamed }
    return false
  }

  /// Whether there can be data to read: on a server, or in a folder that has some.
  package var hasData: Bool {
    switch backend {
    case .embedded(let folder?): LocalBackend.exists(in: folder)
    case .embedded(nil): Surroundings.current.keepsConnections
    case .remote: true
    }
  }

  /// Refuses a folder without data for commands that only read, so that a mistyped folder is not made.
  /// - Throws: `CommandFailure` if a user named a folder in which there is no data.
  package func requireData() throws(CommandFailure) {
    guard isDataNamed, case .embedded(let folder?) = backend, !LocalBackend.exists(in: folder) else { return }
    throw CommandFailure(
      .noInput, "there is no data in \(folder). Check --data; commands that write, and the dashboard, begin it.")
  }

  /// The cache of a client that never sends, for commands that only look at it. A folder that a user named must hold
  /// one; anywhere else a missing one counts as empty.
  /// - Parameter isMade: whether a missing cache is made.
  package func readStore(isMade: Bool) throws(CommandFailure) -> LocalStoreConfiguration {
    var configuration = LocalStoreConfiguration(location: cache, policy: .never, database: database)
    configuration.report = { StandardError.write("hearth: \($0)") }
    guard !isMade, case .directory(let folder) = cache, !LocalStore.exists(in: folder) else { return configuration }
    if isCacheNamed || isDataNamed {
      throw CommandFailure(
        .noInput, "there is no cache in \(folder). Check --cache and --data; the dashboard makes one.")
    }
    configuration.location = .memory
    return configuration
  }
}

extension CommandFailure {
  /// A failure to use the cache that a command needs.
  package init(cache error: StoreError) {
    let exit: ExitStatus =
      switch error.kind {
      case .locked, .gone: .unavailable
      case .foreign, .newerSchema: .configuration
      case .notWritable, .notPrivate: .permissionDenied
      case .corrupt: .badData
      case .diskFull, .uncertain: .tryAgain
      case .refused, .leaseLost, .injected, .sqlite: .failure
      }
    self.init(exit, error.message)
  }
}
