// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// A message of a program to its watchers.
package enum InspectionNews: Codable, Sendable {
  /// A listener that exists, or begins.
  case listener(ListenerState)
  case snapshot(InspectedSnapshot)
  /// The program stopped a listener; with a status, it failed.
  case ended(listener: Int, RPCStatus?)
  /// So many snapshots were not told; these are the listeners' last results.
  case missed(snapshots: Int, [Int: ListenerState.Result])
  case status(InspectedStatus)
  /// The cache is not the one that the program asked for.
  case cacheProblem(String)
  case faults(FaultSettings)
  case answer(to: Int, InspectionAnswer)
  /// The reason why the connection ends here.
  case refused(String)
  /// The client was closed by the program.
  case closed
}

/// A status without the lists that are long and were told a moment ago: their last state still holds.
package struct InspectedStatus: Codable, Sendable {
  package enum Part: String, Codable, Hashable, Sendable { case reads, waitingWrites }

  private var status: ClientStatus
  private var omitted: Set<Part>

  package init(_ status: ClientStatus, omitting omitted: Set<Part> = []) {
    self.status = status
    self.omitted = omitted
    if omitted.contains(.reads) { self.status.reads = [] }
    if omitted.contains(.waitingWrites) { self.status.pendingWrites = [] }
  }

  /// The whole status, with the missing lists from the last one.
  /// - Parameter last: the status that was told before; `nil` for the first.
  package func completed(with last: ClientStatus?) -> ClientStatus {
    var status = status
    if omitted.contains(.reads) { status.reads = last?.reads ?? [] }
    if omitted.contains(.waitingWrites) { status.pendingWrites = last?.pendingWrites ?? [] }
    return status
  }
}

/// One snapshot of a listener: the changes, and their causes.
package struct InspectedSnapshot: Codable, Sendable {
  package struct Change: Codable, Sendable {
    package var kind: DocumentChange.Kind
    package var document: Document
    /// The document in the snapshot before; `nil` for an added one.
    package var previous: Document?
    /// The present state of a removed document.
    package var now: Document?

    package init(_ kind: DocumentChange.Kind, _ document: Document, previous: Document?, now: Document?) {
      self.kind = kind
      self.document = document
      self.previous = previous
      self.now = now
    }
  }

  package var listener: Int
  package var changes: [Change]
  /// The number of changes that are left out, since there are too many.
  package var omitted: Int
  package var syncStateChanged: Bool
  package var result: ListenerState.Result
  package var causes: [SnapshotCause]
  /// The time at which the snapshot fired, by the machine's clock.
  package var time: Timestamp

  package init(
    listener: Int, changes: [Change], omitted: Int = 0, syncStateChanged: Bool, result: ListenerState.Result,
    causes: [SnapshotCause], time: Timestamp
  ) {
    self.listener = listener
    self.changes = changes
    self.omitted = omitted
    self.syncStateChanged = syncStateChanged
    self.result = result
    self.causes = causes
    self.time = time
  }
}
