// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreSQLite
import FirestoreServer
import Glibc
import Synchronization

/// The handover before a stop: a stopped process answers no call, so that it lets others have the data before.
extension DataKeeper {
  /// The interval at which the keeper looks whether the data is closed.
  private static let glance = Duration.milliseconds(2)

  /// Lets the data go, if it is open here: calls wait and streams end. Returns when others can have it, or when some
  /// work goes on for longer than the grace.
  func handOver(within grace: Duration) async {
    guard await letGo() else { return }
    let deadline = ContinuousClock.now + grace
    // Cancelled, it looks again without a pause, until the deadline.
    while holdsLock, .now < deadline { try? await ContinuousClock().sleep(for: Self.glance) }
  }

  /// Lets the data go. A function of its own, so that nothing keeps the backend while its end is waited for.
  /// - Returns: false if the data is not open here.
  private func letGo() async -> Bool {
    var held: (backend: LocalBackend, server: SocketServer?)?
    change { state in
      guard case .own(let backend)? = state.way else { return }
      held = (backend, state.server)
      (state.way, state.server, state.others) = (nil, nil, [])
      state.hasHandedOver = true
      state.generation += 1
    }
    guard let held else { return false }
    if let server = held.server {
      // A process that looks for the socket while the lock is still held finds none.
      try? DataSocket(in: directory).remove()
      server.close()
    }
    await held.backend.endWatches(RPCStatus(.unavailable, "The process that has the data open is being stopped."))
    return true
  }

  /// Looks for the data again after `handOver`: opens it here, or is attached to the process that has it by now.
  func takeUp() {
    let hadHandedOver = state.withLock { state in
      defer { state.hasHandedOver = false }
      return state.hasHandedOver && !state.isClosed
    }
    if hadHandedOver { start(nil, from: DataSearch()) }
  }
}
