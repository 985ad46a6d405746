// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
package import FirestoreModel
package import FirestoreRemote
import Synchronization

extension Backend {
  /// With the settings that a new `Firestore` has.
  package func connect(to database: DatabaseID) -> any Datastore { connect(to: database, FirestoreSettings().values) }

  /// The way to one database of the backend, which is opened if it is not open yet. A backend that cannot be opened is
  /// one that cannot be reached: the client works offline and says why.
  func connect(to database: DatabaseID, _ settings: FirestoreSettings.Storage) -> any Datastore {
    do throws(BackendError) {
      if let emulator = settings.emulator { return remote(at: emulator, .emulatorOwner, to: database) }
      switch kind {
      case .remote(let credentials): return remote(credentials, to: database, settings)
      case .datastore(let custom): return custom.datastore
      case .inMemory(name: nil):
        let backend = try LocalBackend(BackendConfiguration(location: .memory, now: FirestoreModel.Timestamp.now))
        return InProcessDatastore(backend: backend, database: database)
      case .inMemory(let name?):
        return InProcessDatastore(backend: try OpenBackends.memory(named: name), database: database)
      case .embedded(let directory):
        return InProcessDatastore(backend: try OpenBackends.durable(in: directory + "/backend"), database: database)
      }
    } catch {
      return UnavailableDatastore(because: "The backend could not be opened: \(error.message)")
    }
  }
}

/// The embedded backends of this process that several apps share. A directory is opened once: it is locked.
private enum OpenBackends {
  private struct Weak {
    weak var backend: LocalBackend?
  }

  private static let durable = Mutex<[String: Weak]>([:])
  private static let memory = Mutex<[String: LocalBackend]>([:])

  /// Open as long as a client holds it. Opened under the lock: a second opening would find the directory locked.
  static func durable(in directory: String) throws(BackendError) -> LocalBackend {
    try durable.withLock { open -> Result<LocalBackend, BackendError> in
      if let backend = open[directory]?.backend { return .success(backend) }
      return Result { () throws(BackendError) in
        let backend = try LocalBackend(
          BackendConfiguration(location: .directory(directory), now: FirestoreModel.Timestamp.now))
        open[directory] = Weak(backend: backend)
        return backend
      }
    }.get()
  }

  /// Open as long as the process: nothing else would keep its data between two clients.
  static func memory(named name: String) throws(BackendError) -> LocalBackend {
    try memory.withLock { open -> Result<LocalBackend, BackendError> in
      if let backend = open[name] { return .success(backend) }
      return Result { () throws(BackendError) in
        let backend = try LocalBackend(BackendConfiguration(location: .memory, now: FirestoreModel.Timestamp.now))
        open[name] = backend
        return backend
      }
    }.get()
  }
}
