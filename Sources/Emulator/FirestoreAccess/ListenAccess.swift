// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreRules
import FirestoreService

/// The permissions of a Listen stream's caller. The rules are evaluated when a target is added, and again when the
/// rules or a document that affects them change. A target that may no longer be watched ends; all others continue. The
/// contents of a document that left a target are sent only if the caller may read it.
struct ListenAccess: ListenerPermissions {
  private struct Guarded {
    let target: Target
    let others: [DocumentKey]
    let orderBy: [OrderBy]
    /// The documents that affect the permission.
    var read: Set<DocumentKey>
  }

  private let access: CallAccess
  private let database: DatabaseID
  private var targets: [TargetID: Guarded] = [:]
  /// The `changeNumber` of the rules when they were last evaluated.
  private var changeNumber: Int

  init(_ access: CallAccess, in database: DatabaseID) {
    self.access = access
    self.database = database
    changeNumber = access.rules.changeNumber
  }

  /// - Throws: `permission-denied`.
  mutating func add(
    _ id: TargetID, _ target: Target, others: [DocumentKey], _ orderBy: [OrderBy], on session: WatchSessionID,
    _ backend: isolated LocalBackend
  ) throws(RPCStatus) {
    var guarded = Guarded(target: target, others: others, orderBy: orderBy, read: [])
    guarded.read = try read(guarded, backend)
    targets[id] = guarded
    depend(session, backend)
  }

  mutating func remove(_ id: TargetID, on session: WatchSessionID, _ backend: isolated LocalBackend) {
    if targets.removeValue(forKey: id) != nil { depend(session, backend) }
  }

  /// - Throws: `unauthenticated` once the caller's token has expired.
  func checkTime() throws(RPCStatus) { try access.checkTime() }

  /// Ends the targets that may no longer be watched.
  mutating func review(on session: WatchSessionID, _ backend: isolated LocalBackend) {
    let isConcerned = backend.takeConcern(of: session)
    let latest = access.rules.changeNumber
    guard isConcerned || latest != changeNumber, !targets.isEmpty else { return }
    changeNumber = latest
    for (id, guarded) in targets {
      do throws(RPCStatus) {
        let keys = try read(guarded, backend)
        targets[id]?.read = keys
      } catch {
        targets[id] = nil
        backend.end(id, error, on: session)
      }
    }
    depend(session, backend)
  }

  /// Removes the contents of documents that left their targets from a delivery, unless the caller may read their
  /// current state. Call it in the backend step that sends the delivery, because rules also read other documents.
  func withhold(from delivery: inout WatchDelivery, _ backend: isolated LocalBackend) throws(RPCStatus) {
    guard access.concerns(database) else { return }
    for index in delivery.changes.indices {
      // A document that is still in another target is sent with its contents.
      guard case .document(let document, let updated, let removed) = delivery.changes[index], updated.isEmpty else {
        continue
      }
      // The document may have changed since it left the target.
      guard let current = try backend.lookup([document.key], in: database).documents.first, current.exists else {
        if document.exists {
          let missing = Document(key: document.key, version: delivery.readTime, state: .missing)
          delivery.changes[index] = .document(missing, updated: [], removed: removed)
        }
        continue
      }
      delivery.changes[index] =
        mayGet(current, backend)
        ? .document(current, updated: [], removed: removed) : .documentRemoved(current.key, removed: removed)
    }
  }

  /// Whether the caller may read the document; false if the rules cannot be evaluated.
  private func mayGet(_ document: Document, _ backend: isolated LocalBackend) -> Bool {
    do throws(RPCStatus) {
      try access.get([document], in: database, on: backend)
      return true
    } catch { return false }
  }

  private func depend(_ session: WatchSessionID, _ backend: isolated LocalBackend) {
    backend.depend(session, on: targets.values.reduce(into: []) { $0.formUnion($1.read) })
  }

  private func read(_ guarded: Guarded, _ backend: isolated LocalBackend) throws(RPCStatus) -> Set<DocumentKey> {
    guard guarded.target.isDocumentTarget else {
      return Set(try access.list(ServedQuery(guarded.target), guarded.orderBy, in: database, on: backend))
    }
    let keys = [DocumentKey(unchecked: guarded.target.path)] + guarded.others
    let documents = try backend.lookup(keys, in: database).documents
    return Set(keys).union(try access.get(documents, in: database, on: backend))
  }
}
