// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
package import FirestoreModel
import FirestoreProtocol

/// One Listen stream (PROTOCOL §2), for a transport that runs where the backend runs: everything here is called on the
/// backend's executor and is one step of it, so that what a commit sets off reaches a stream without a task.
package struct ListenStream: Sendable {
  private struct Watch {
    let session: WatchSessionID
    let names: DocumentNames
  }

  private let backend: LocalBackend
  private let wake: @Sendable () -> Void
  /// The first request names the database.
  private var watch: Watch?
  private var lastChosenID: Int32 = 0

  /// - Parameter wake: called when `take` has something to send. It may be called from within the other methods.
  package init(_ service: FirestoreService, wake: @escaping @Sendable () -> Void) {
    backend = service.backend
    self.wake = wake
  }

  /// Adds or removes a target.
  /// - Throws: what is wrong with the stream as a whole, which ends with it.
  package mutating func receive(_ bytes: [UInt8]) throws(RPCStatus) {
    var message = try RequestReader.read(bytes) { reader throws(WireError) in try reader.listenRequest() }
    // Zero leaves the choice to the server.
    if message.target?.id.rawValue == 0 {
      lastChosenID += 1
      message.target?.id = TargetID(lastChosenID)
    }
    let request = try ListenRequest(message)
    let (change, database, signal) = (request.change, request.database, WatchSignal(wake: wake))
    let watch =
      self.watch
      ?? Watch(session: backend.step { $0.openWatch(in: database, signal) }, names: DocumentNames(database))
    self.watch = watch
    try backend.step { backend throws(RPCStatus) in
      switch change {
      case .watch(let request, let others):
        try backend.request(request, on: watch.session, isChecked: true, others: others)
      case .invalid(let id, let status): try backend.refuse(id, status, on: watch.session)
      }
    }
  }

  /// The messages to send, and whether there are more without waiting.
  /// - Throws: the status with which the stream ends.
  package func take() throws(RPCStatus) -> (messages: [[UInt8]], hasMore: Bool) {
    guard let watch else { return ([], false) }
    let delivery = try backend.step { backend throws(RPCStatus) in try backend.take(from: watch.session) }
    let messages = delivery.changes.map { change in
      WireWriter.message { $0.watchChange(change, watch.names, readTime: delivery.readTime) }
    }
    return (messages, delivery.hasMore)
  }

  /// Ends the stream: it is told nothing more. Needed once it has received anything.
  package func close() {
    guard let watch else { return }
    backend.step { $0.closeWatch(watch.session) }
  }
}
