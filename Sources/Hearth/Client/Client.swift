// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal
package import FirestoreModel
package import FirestoreProtocol
package import FirestoreSync

/// One open client: an engine with its cache and its way to a backend, and the tasks that it keeps running.
package final class Client: Sendable {
  package let engine: SyncEngine
  package let datastore: any Datastore
  package let database: DatabaseID
  let callbackTasks = CallbackTasks()
  let callbackListeners = CallbackListeners()
  let log: ClientLog
  /// Streams and timers; ends in `terminate()`.
  private let running: Task<Void, Never>

  /// - Parameters:
  ///   - isNetworkEnabled: whether the client connects, and sends what waits in the cache, from the beginning.
  ///   - clock: measures every delay and timeout.
  package init(
    _ cache: LocalStoreConfiguration, datastore: any Datastore, isNetworkEnabled: Bool = true,
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    var configuration = SyncConfiguration(store: cache)
    configuration.isNetworkEnabled = isNetworkEnabled
    let engine = SyncEngine(
      configuration, datastore: datastore, clock: clock, now: FirestoreModel.Timestamp.now,
      random: SystemRandomNumberGenerator())
    self.engine = engine
    self.datastore = datastore
    database = cache.database
    log = ClientLog(database: database, engine: engine, tasks: callbackTasks)
    running = Task { await engine.run() }
  }

  /// A client that asks no backend and sends nothing: what it knows is what the cache has.
  package convenience init(onlyCache cache: LocalStoreConfiguration) {
    self.init(cache, datastore: UnavailableDatastore(because: "Only the cache is read."), isNetworkEnabled: false)
  }

  /// Stops streams, closes the cache, and ends every listener and completion. A second call waits for the first.
  package func terminate() async {
    callbackListeners.finish()
    await engine.terminate()
    running.cancel()
    await running.value
    await callbackTasks.cancelAndWait()
  }
}
