// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
package import FirestoreModel

extension Action {
  /// The time of the action.
  package var time: Timestamp {
    switch self {
    case .input(_, let time), .tick(let time), .client(_, let time), .link(_, let time), .sent(_, let time),
      .listen(_, _, _, let time), .open(_, let time), .adopt(_, let time),
      .configured(_, let time), .caption(_, let time), .run(_, let time), .overwrote(_, let time),
      .staged(_, let time):
      time
    }
  }

  /// The approximate memory that the log needs to keep the action. Documents that a window lists are mostly those that
  /// it listed before, and share their storage with them.
  package var cost: Int {
    guard case .client(let event, _) = self else { return 160 }
    switch event {
    case .snapshot(let snapshot):
      return snapshot.changes.reduce(320) { $0 + $1.document.cost + 2 * Document.shallowCost }
    case .windowLoaded(_, let documents, _, _):
      return 320 + documents.count * Document.shallowCost + documents.reduce(0) { $0 + $1.cost } / 16
    case .searched(_, let news):
      return 320 + news.hits.reduce(0) { $0 + $1.cost + Document.shallowCost }
    case .status(let status): return 1024 + 16 * status.roundTrips.count
    case .pendingWrites(let writes, _): return 320 + writes.reduce(0) { $0 + 160 + $1.byteCount }
    case .rejectedWrites(let writes): return 320 + writes.reduce(0) { $0 + 160 + $1.byteCount }
    case .detail(_, let remote, _, let local, _): return 640 + (remote?.cost ?? 0) + (local?.cost ?? 0)
    case .missingDocuments(_, let keys): return 320 + 64 * keys.count
    case .notice(_, let text): return 320 + text.utf8.count
    default: return 1024
    }
  }

  /// The action as the log and the file keep it: without parts that other events repeat.
  package var withoutRepetition: Action {
    guard case .client(.status(var status), let time) = self else { return self }
    status.pendingWrites = []
    status.rejectedWrites = []
    status.indexes = []
    status.retentions = nil
    status.recentOutcomes = []
    return .client(.status(status), at: time)
  }
}

extension ClientEvent {
  /// Whether moving from event to event stops at the action: whether a user would call it an event.
  func isStep(_ state: DashboardState) -> Bool {
    switch self {
    case .snapshot(let snapshot): !snapshot.changes.isEmpty || snapshot.syncStateChanged
    case .status(let status): status.isOffline != state.network.isOffline
    case .company(let company): state.storage.company.map { $0.standing != company.standing } ?? false
    case .snapshotsMissed(let count, _): count > 0
    case .listenerFailed, .listenerStopped, .attachmentEnded, .windowFailed, .storage, .pendingWrites,
      .writeAcknowledged, .writeRejected, .writeCancelled,
      .rejectedWritesForgotten, .conflict, .contested, .marked, .editConflict, .undoConflict, .editorFailed,
      .editorGaveUp,
      .created,
      .explained,
      .transferred, .listenersRead, .question, .notice:
      true
    case .windowLoaded, .searched, .located, .collections, .collectionsUnlisted, .missingDocuments, .counted,
      .committed, .commitsUnheard,
      .rejectedWrites, .answered,
      .detail, .indexes, .retentions,
      .faults,
      .previewed, .decisions, .inside, .surveyed, .fieldTypes,
      .transferring:
      false
    }
  }
}

extension Document {
  /// The approximate memory of a document besides its contents.
  fileprivate static let shallowCost = 128

  /// The approximate memory of the document, found without decoding its contents.
  fileprivate var cost: Int {
    guard let data else { return Self.shallowCost }
    return switch data.storage {
    case .encoded(let bytes): Self.shallowCost + bytes.bytes.count
    case .decoded(let fields): Self.shallowCost + 2 * fields.byteSize
    }
  }
}
