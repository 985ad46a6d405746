// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery

/// What a program tells who watches it.
package enum InspectionNews: Codable, Sendable {
  /// A listener that is there, or begins.
  case listener(ListenerState)
  case snapshot(InspectedSnapshot)
  /// The program stopped a listener; with a status, it failed.
  case ended(listener: Int, RPCStatus?)
  /// So many snapshots were not told, and this is what the listeners came to.
  case missed(snapshots: Int, [Int: ListenerState.Result])
  case status(InspectedStatus)
  /// The cache is not the one that the program asked for.
  case cacheProblem(String)
  case faults(FaultSettings)
  case answer(to: Int, InspectionAnswer)
  /// Why nothing follows.
  case refused(String)
  /// The client was closed by the program.
  case closed
}

/// A status without those lists that are long and were told a moment ago: of these, what was told last stands.
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

  /// - Parameter last: the status that this was told after; `nil` for the first.
  package func completed(with last: ClientStatus?) -> ClientStatus {
    var status = status
    if omitted.contains(.reads) { status.reads = last?.reads ?? [] }
    if omitted.contains(.waitingWrites) { status.pendingWrites = last?.pendingWrites ?? [] }
    return status
  }
}

/// One firing of a listener: what changed, and why.
package struct InspectedSnapshot: Codable, Sendable {
  package struct Change: Codable, Sendable {
    package var kind: DocumentChange.Kind
    package var document: Document
    /// In the snapshot before; `nil` for an added one.
    package var previous: Document?
    /// Of a removed document, what it is now.
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
  /// How many changes are left out, since there are too many.
  package var omitted: Int
  package var syncStateChanged: Bool
  package var result: ListenerState.Result
  package var causes: [SnapshotCause]
  /// When it fired, by the clock of the machine.
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
