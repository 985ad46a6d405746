// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreGRPC
import FirestoreModel
import FirestoreServer
import Synchronization

/// The way to data that another process has open, as long as that process serves it.
final class Attachment: Sendable {
  private struct State {
    var datastores: [DatabaseID: GRPCDatastore] = [:]
    var isOver = false
  }

  let welcome: SharingLine.Welcome
  private let socket: DataSocket
  private let state = Mutex(State())

  init(_ welcome: SharingLine.Welcome, over socket: DataSocket) {
    self.welcome = welcome
    self.socket = socket
  }

  var owner: DataMember { welcome.owner }

  /// Whether the owner is gone, or does not answer.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// - Parameter thread: reads and writes the connections of the database's first datastore.
  /// - Returns: `nil` if the owner is gone, or does not answer.
  func datastore(for database: DatabaseID, on thread: ConnectionThread) -> GRPCDatastore? {
    state.withLock { state in
      if state.isOver { return nil }
      if let known = state.datastores[database] { return known }
      let made = GRPCDatastore(
        Endpoint(socket: socket.address, called: "\(owner)"), database: database, credentials: .emulatorOwner,
        on: thread)
      state.datastores[database] = made
      return made
    }
  }

  /// Ends all calls.
  func end() {
    let datastores = state.withLock { state in
      state.isOver = true
      defer { state.datastores = [:] }
      return Array(state.datastores.values)
    }
    if datastores.isEmpty { return }
    Task { for datastore in datastores { await datastore.close() } }
  }
}
