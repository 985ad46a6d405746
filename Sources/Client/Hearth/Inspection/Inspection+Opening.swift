// SPDX-License-Identifier: Apache-2.0
import CSocketNames
import ClientPort
import Dispatch
import FirestoreBackend
import FirestoreModel
package import FirestoreProtocol
import FirestoreSharing
import FirestoreSync
import Foundation
import Glibc
import LocalSockets
import Synchronization

extension Inspection {
  /// Starts inspection for a client, so that watchers can connect.
  /// - Returns: `nil` if the client cannot be watched; the log contains the reason.
  static func open(_ plan: Plan, _ engine: SyncEngine, _ database: DatabaseID) -> Inspection? {
    do throws(InspectionFolder.Failure) {
      let inspection = try Inspection(
        InspectedEngine(engine: engine, faults: plan.faults), as: plan.greeting, in: plan.folder,
        restingShare: plan.restingShare)
      inspection.start()
      return inspection
    } catch {
      ClientLog.write("cannot be watched by hearth attach: \(error.message)", database)
      return nil
    }
  }
}

extension Inspection.Plan {
  /// Wraps the datastore, so that a watcher can inject faults.
  package func disturbing(_ datastore: any Datastore, clock: any Clock<Duration>) -> any Datastore {
    FaultyDatastore(datastore, faults: faults, clock: clock)
  }
}

extension Firestore {
  /// Decides how to inspect a new client.
  /// - Returns: `nil` if the client may not be watched.
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
  /// The kind of the backend, its host, and whether it uses TLS. Watchers receive these in the greeting.
  fileprivate var inspected: (InspectionGreeting.BackendKind, host: String?, isTLS: Bool) {
    switch self {
    case .embedded, .inMemory: (.embedded, nil, false)
    case .server(let server):
      (server.credentials == .emulatorOwner ? .emulator : .cloud, server.name, server.isTLS)
    case .datastore: (.other, nil, false)
    }
  }
}

/// Decides whether a client may be watched. `HEARTH_INSPECT` takes precedence over the settings.
package enum InspectionPermission {
  static let variable = "HEARTH_INSPECT"

  /// - Parameter isInspectable: the setting to apply if the environment variable is not set.
  package static func isGiven(unlessSaid isInspectable: Bool, _ environment: [String: String]) -> Bool {
    switch environment[variable] {
    case "1": true
    case "0": false
    default: isInspectable
    }
  }
}

/// The socket to which watchers connect. Its file is removed when the client or the process ends, also if the default
/// action of SIGTERM, SIGINT or SIGHUP ends the process.
final class InspectionSocket: Sendable {
  private struct Registry {
    var sockets: [InspectionAddress: LocalSocket] = [:]
    /// The numbers that signal handlers use to find the paths of the sockets.
    var numbers: [InspectionAddress: CInt] = [:]
    var removesAtExit = false
  }

  /// The sockets of this process, whose files are removed when the process ends.
  private static let registry = Mutex(Registry())

  let descriptor: CInt
  let address: InspectionAddress

  /// Creates a socket with an unused name and listens on it.
  /// - Throws: a one-line description of why the socket could not be created.
  init(in folder: InspectionFolder) throws(InspectionFolder.Failure) {
    try folder.prepare()
    let opened = Self.registry.withLock { registry -> Result<(CInt, InspectionAddress), InspectionFolder.Failure> in
      var address = InspectionAddress(process: getpid())
      while registry.sockets[address] != nil { address.client += 1 }
      return Result { () throws(InspectionFolder.Failure) in
        do throws(LocalSocketError) {
          let socket = try folder.socket(address)
          let descriptor = try socket.listen()
          registry.sockets[address] = socket
          registry.numbers[address] = csn_remember(socket.path)
          return (descriptor, address)
        } catch {
          throw InspectionFolder.Failure(message: "\(error.path): \(error.text).")
        }
      }
    }
    (descriptor, address) = try opened.get()
    Self.removeAtExit()
  }

  /// Removes the socket's file, so that watchers no longer find the client. The caller closes the descriptor.
  func remove() {
    let socket = Self.registry.withLock { registry in
      if let number = registry.numbers.removeValue(forKey: address) { csn_forget(number) }
      return registry.sockets.removeValue(forKey: address)
    }
    socket?.remove()
  }

  private static func removeAtExit() {
    let isFirst = registry.withLock { registry in
      defer { registry.removesAtExit = true }
      return !registry.removesAtExit
    }
    guard isFirst else { return }
    atexit { InspectionSocket.removeAll() }
  }

  private static func removeAll() {
    // The exit of a forked child must not remove the names of its parent's sockets.
    registry.withLock { registry in
      for (address, socket) in registry.sockets where address.process == getpid() { socket.remove() }
      registry.sockets = [:]
    }
  }
}
