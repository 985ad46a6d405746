// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtoJSON
import FirestoreProtocol
import FirestoreQuery

// The messages of the streams, without their tokens.

extension TappedMessage {
  mutating func note(_ request: WatchRequest, in database: DatabaseID) {
    var shown = request
    switch request {
    case .add(var target):
      kind = "addTarget"
      targets = [target.id]
      if target.target.isDocumentTarget { note([DocumentKey(unchecked: target.target.path)]) }
      if case .token(let token)? = target.resume {
        tokenLength = token.bytes.count
        target.resume = nil
        shown = .add(target)
      }
    case .remove(let id):
      kind = "removeTarget"
      targets = [id]
    }
    note(Schema.listenRequest) { $0.watchRequest(shown, in: database) }
  }

  mutating func note(_ change: WatchChange, _ names: DocumentNames) {
    var (shown, token): (WatchChange, ResumeToken?) = (change, nil)
    switch change {
    case .added(let ids): (kind, targets) = ("added", ids)
    case .removed(let ids, let cause): (kind, targets, status) = ("removed", ids, cause)
    case .current(let ids, let position):
      (kind, targets, token, shown) = ("current", ids, position, .current(ids, nil))
    case .reset(let ids, let position): (kind, targets, token, shown) = ("reset", ids, position, .reset(ids, nil))
    case .token(let ids, let position): (kind, targets, token, shown) = ("token", ids, position, .token(ids, nil))
    case .snapshot(let version, let position): (kind, token, shown) = ("snapshot", position, .snapshot(version, nil))
    case .document(let document, let updated, let removed):
      (kind, targets) = (document.exists ? "documentChange" : "documentDelete", updated + removed)
      note([document.key])
    case .documentRemoved(let key, let removed):
      (kind, targets) = ("documentRemove", removed)
      note([key])
    case .filter(let id, let filter): (kind, targets, count) = ("filter", [id], filter.count)
    }
    tokenLength = token?.bytes.count
    note(Schema.listenResponse) { $0.watchChange(shown, names) }
  }

  mutating func note(_ request: WriteRequest, in database: DatabaseID) {
    kind = "writes"
    tokenLength = request.streamToken.count
    note(request.mutations.lazy.map(\.key))
    let shown = WriteRequest(streamToken: [], mutations: request.mutations, requestID: request.requestID)
    note(Schema.writeRequest) { $0.writeRequest(shown, in: database) }
  }

  /// - Parameter mutations: the writes that are answered.
  mutating func note(_ response: CommitResponse, streamToken: [UInt8], to mutations: [Mutation]) {
    kind = "writeResults"
    tokenLength = streamToken.count
    note(mutations.lazy.map(\.key))
    note(Schema.writeResponse) {
      $0.writeResponse(WriteResponse(streamToken: [], commit: response), to: mutations)
    }
  }
}
