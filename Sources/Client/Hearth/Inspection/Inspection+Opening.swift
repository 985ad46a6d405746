// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreInspection
import FirestoreModel
package import FirestoreProtocol
import FirestoreSharing
import FirestoreSync
import Foundation

extension Inspection {
  /// Opens the inspection of a client.
  /// - Returns: `nil` if the client cannot be watched; the log says why.
  static func open(_ plan: Plan, _ engine: SyncEngine, _ database: DatabaseID) -> Inspection? {
    do throws(InspectionFolder.Failure) {
      let inspection = try Inspection(plan, engine)
      inspection.start()
      return inspection
    } catch {
      ClientLog.write("cannot be watched by hearth attach: \(error.message)", database)
      return nil
    }
  }
}

extension Inspection.Plan {
  /// The way to a backend, with faults in it that a watcher may set.
  package func disturbing(_ datastore: any Datastore, clock: any Clock<Duration>) -> any Datastore {
    FaultyDatastore(datastore, faults: faults, clock: clock)
  }
}

extension Firestore {
  /// The plan for the inspection of a new client.
  /// - Returns: `nil` unless the client may be watched.
  func inspectionPlan(_ settings: FirestoreSettings.Storage, _ backend: ResolvedBackend) -> Inspection.Plan? {
    let environment = ProcessInfo.processInfo.environment
    guard InspectionPermission.isGiven(unlessSaid: settings.isInspectable, environment) else { return nil }
    let (kind, host, isTLS) = backend.inspected
    let greeting = InspectionGreeting(
      process: getpid(), name: SharedData.processName, database: database, backend: kind, host: host, isTLS: isTLS,
      since: .now())
    return Inspection.Plan(folder: InspectionFolder(environment), greeting: greeting, faults: FaultInjector())
  }
}

extension ResolvedBackend {
  /// The backend's kind, host and use of TLS for the greeting of a watcher.
  fileprivate var inspected: (InspectionGreeting.BackendKind, host: String?, isTLS: Bool) {
    switch self {
    case .embedded, .inMemory: (.embedded, nil, false)
    case .server(let server):
      (server.credentials == .emulatorOwner ? .emulator : .cloud, server.name, server.isTLS)
    case .datastore: (.other, nil, false)
    }
  }
}
