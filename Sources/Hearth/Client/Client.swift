// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
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

  /// - Parameter clock: measures every delay and timeout.
  package init(
    _ configuration: SyncConfiguration, datastore: any Datastore, clock: any Clock<Duration> = ContinuousClock()
  ) {
    let engine = SyncEngine(
      configuration, datastore: datastore, clock: clock, now: FirestoreModel.Timestamp.now,
      random: SystemRandomNumberGenerator())
    self.engine = engine
    self.datastore = datastore
    database = configuration.store.database
    log = ClientLog(database: database, engine: engine, tasks: callbackTasks)
    running = Task { await engine.run() }
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
