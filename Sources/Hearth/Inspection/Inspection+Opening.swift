// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreInspection
import FirestoreModel
import FirestoreProtocol
import FirestoreSharing
import FirestoreSync
import Foundation

extension Inspection {
  /// - Returns: `nil` where nobody can watch; the log says why.
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
  /// The way to a backend, with a place in it where a watcher may break it.
  func disturbing(_ datastore: any Datastore, clock: any Clock<Duration>) -> any Datastore {
    FaultyDatastore(datastore, faults: faults, clock: clock)
  }
}

extension Firestore {
  /// - Returns: `nil` unless the client may be watched.
  func inspectionPlan(_ settings: FirestoreSettings.Storage, _ backend: ResolvedBackend) -> Inspection.Plan? {
    let environment = ProcessInfo.processInfo.environment
    guard InspectionPermission.isGiven(settings, environment) else { return nil }
    let (kind, host, isTLS) = backend.inspected
    let greeting = InspectionGreeting(
      process: getpid(), name: SharedData.processName, database: database, backend: kind, host: host, isTLS: isTLS,
      since: .now())
    return Inspection.Plan(folder: InspectionFolder(environment), greeting: greeting, faults: FaultInjector())
  }
}

extension ResolvedBackend {
  /// As a watcher is told.
  fileprivate var inspected: (InspectionGreeting.BackendKind, host: String?, isTLS: Bool) {
    switch self {
    case .embedded, .inMemory: (.embedded, nil, false)
    case .server(let server):
      (server.credentials == .emulatorOwner ? .emulator : .cloud, server.name, server.isTLS)
    case .datastore: (.other, nil, false)
    }
  }
}
