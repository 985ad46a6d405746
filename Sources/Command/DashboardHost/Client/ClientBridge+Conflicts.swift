// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandTransfer
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreSync

/// The contents of documents that the author of a pending write had seen.
struct SeenContents {
  /// The maximum number of writes for which contents are stored.
  static let limit = 1000

  var mutations: [Mutation]
  var contents: [DocumentKey: UndoLog.Contents]

  /// The fields whose values the write replaced although its author had seen other values.
  /// - Parameter theirs: the document just before the write was applied.
  func replaced(in key: DocumentKey, theirs: UndoLog.Contents) -> [WriteConflict.Field] {
    guard let base = contents[key], base != .unknown, theirs != .unknown else { return [] }
    let (saw, had) = (base.fields ?? Fields(), theirs.fields ?? Fields())
    var fields: [FieldPath: WriteConflict.Field] = [:]
    func note(_ path: FieldPath, _ mine: Value?) {
      // A timestamp that the server computes was seen as an estimate.
      if case .serverTimestamp? = saw[path] { return }
      guard saw[path] != had[path], had[path] != mine else { return }
      fields[path] = WriteConflict.Field(path: path, base: saw[path], mine: mine, theirs: had[path])
    }
    for mutation in mutations where mutation.key == key {
      let computed = Set(mutation.transforms.map(\.path))
      switch mutation.operation {
      case .patch(let new, let mask):
        for path in mask.paths where !computed.contains(path) { note(path, new[path]) }
      case .set(let new):
        for path in DocumentEdit.changedPaths(from: saw, to: had) where !computed.contains(path) {
          note(path, new[path])
        }
      case .delete:
        // A delete of a document that another client has already deleted loses nothing.
        guard theirs != .absent else { continue }
        for path in DocumentEdit.changedPaths(from: saw, to: had) { note(path, nil) }
      case .verify: continue
      }
    }
    return fields.values.sorted { $0.path < $1.path }
  }
}

extension ClientBridge {
  func noteSeen(_ contents: [DocumentKey: UndoLog.Contents], by batch: BatchID, _ mutations: [Mutation]) {
    guard seen.count < SeenContents.limit else { return }
    seen[batch] = SeenContents(mutations: mutations, contents: contents)
  }

  /// Records what the author of each write had seen, for the writes that were already pending before this session. Each
  /// author saw the cached documents with all earlier pending writes applied.
  func noteSeen(by waiting: [PendingWrite]) {
    request { bridge in
      var documents: [DocumentKey: Document] = [:]
      for write in waiting {
        var contents: [DocumentKey: UndoLog.Contents] = [:]
        for mutation in write.mutations where documents[mutation.key] == nil {
          documents[mutation.key] = try await bridge.engine.layers(of: mutation.key).remote
        }
        for mutation in write.mutations where contents[mutation.key] == nil {
          contents[mutation.key] = UndoLog.Contents(documents[mutation.key])
        }
        for mutation in write.mutations {
          guard var document = documents[mutation.key] else { continue }
          _ = mutation.applyLocally(to: &document, previousMask: .none, at: write.localWriteTime)
          documents[mutation.key] = document
        }
        // A write answered meanwhile is omitted, because the cache no longer has the documents that its author saw.
        guard bridge.isWaiting(write.id) else { continue }
        bridge.noteSeen(contents, by: write.id, write.mutations)
      }
    }
  }

  /// Removes a write that failed. For the documents of this write, the contents that the authors of later writes had
  /// seen are then unknown.
  func forgetSeen(with batch: BatchID) {
    guard let ended = seen.removeValue(forKey: batch) else { return }
    for later in seen.keys where later > batch {
      for mutation in ended.mutations { seen[later]?.contents[mutation.key] = .unknown }
    }
  }

  /// Reads from the backend the versions that a write replaced. Reports the replaced values that the write's author had
  /// not seen.
  func tellConflicts(of batch: BatchID, appliedAt commitTime: SnapshotVersion) {
    guard let seen = seen.removeValue(forKey: batch) else { return }
    let keys = seen.contents.filter { $0.value != .unknown }.keys.sorted()
    guard !keys.isEmpty, seen.mutations.contains(where: \.replacesFields) else { return }
    conflictChecks[batch] = request { bridge in
      defer { bridge.conflictChecks[batch] = nil }
      let before = SnapshotVersion(microseconds: commitTime.timestamp.microseconds &- 1)
      let documents: [Document]
      do throws(RPCStatus) {
        documents = try await (bridge.observed?.server ?? bridge.datastore).lookup(keys, ReadView(at: before))
      } catch {
        // Not every backend stores earlier versions, and none stores them forever. Without them nothing is reported.
        return
      }
      let theirs = Dictionary(
        documents.map { ($0.key, UndoLog.Contents($0)) }, uniquingKeysWith: { first, _ in first })
      let conflicts = documents.compactMap { document -> WriteConflict? in
        let fields = seen.replaced(in: document.key, theirs: UndoLog.Contents(document))
        guard !fields.isEmpty else { return nil }
        return WriteConflict(batch: batch, key: document.key, fields: fields, commitTime: commitTime)
      }
      if conflicts.isEmpty { return }
      bridge.undoLog.note(conflicts, theirs, by: batch)
      for conflict in conflicts { bridge.emit(.conflict(conflict)) }
    }
  }
}

extension Mutation {
  /// Whether the mutation can replace another client's values. Transforms do not count, because their result depends on
  /// these values.
  fileprivate var replacesFields: Bool {
    switch operation {
    case .set: precondition != .exists(false)
    case .patch(_, let mask): !mask.paths.isEmpty
    case .delete: true
    case .verify: false
    }
  }
}

extension ClientBridge {
  /// Writes the result of the field editor. If another client changed the same fields, asks the user first.
  package func write(_ edit: FieldEdit) {
    inOrder { bridge in
      let key: DocumentKey
      switch edit.subject {
      case .document(let changed): key = changed
      case .documentToCreate(let made): key = made
      case .newDocument(let collection):
        guard let made = DocumentKey(collection.appending(AutomaticID.make())) else {
          return bridge.tell(.notice(.error, "\(collection.text) is not a collection"))
        }
        key = made
      }
      guard let mutation = edit.mutation(of: key) else { return bridge.tell(.notice(.info, "Nothing was changed.")) }
      if case .document = edit.subject {
        switch DocumentEdit.status(of: edit, mutation, now: try await bridge.engine.cachedDocument(key)) {
        case .alone: break
        case .beside(let others): bridge.tell(.notice(.info, DocumentEdit.notice(about: others)))
        case .conflict(let conflict): return bridge.tell(.editConflict(conflict))
        }
      }
      try await bridge.commit([mutation])
      switch edit.subject {
      case .newDocument, .documentToCreate: bridge.tell(.created(key))
      case .document: break
      }
    }
  }
}

/// Reports about acknowledged and rejected writes, for the other clients on a screen.
extension ClientBridge {
  /// Reports the outcome of a write, together with the values that its author had seen. If the outcome arrives before
  /// those values are recorded, it is reported later together with the conflict.
  func tellAnswer(_ outcome: WriteOutcome) {
    if let seen = seen[outcome.batch] { return tell(outcome, seen) }
    guard let lastWrite else { return }
    request { bridge in
      await lastWrite.value
      guard let seen = bridge.seen[outcome.batch] else { return }
      bridge.tell(outcome, seen)
      if outcome.rejection == nil, let time = outcome.commitTime {
        bridge.tellConflicts(of: outcome.batch, appliedAt: time)
      } else {
        bridge.forgetSeen(with: outcome.batch)
      }
    }
  }

  private func tell(_ outcome: WriteOutcome, _ seen: SeenContents) {
    // A write that was cancelled here has no server reply.
    if outcome.rejection?.endsWriteHere == true { return }
    let existed = seen.contents.compactMapValues { contents -> Bool? in
      switch contents {
      case .fields: true
      case .absent: false
      case .unknown: nil
      }
    }
    emit(
      .answered(
        AnsweredWrite(
          batch: outcome.batch, mutations: seen.mutations, commitTime: outcome.commitTime,
          refusal: outcome.rejection?.code, existed: existed)))
  }
}
