// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreSync

/// A write that the backend has not acknowledged.
public struct PendingWrite: Hashable, Sendable, Identifiable {
  /// The state of a waiting write: the event that it waits for.
  public enum State: Hashable, Sendable {
    /// The write is held back: the network is disabled, or not used because the cache cannot be written.
    case held
    /// The write waits for its turn.
    case queued
    /// The write was sent and is not answered yet.
    case inFlight
    /// The write waits for the next attempt to connect, at this time.
    case backoff(until: Timestamp)
  }

  /// The write's number, which grows with each write of the client; no other write of the cache has it.
  public let id: Int64
  /// The changes of documents that the write makes, in order.
  public let operations: [WriteOperation]
  /// The time of the write, by this device's clock.
  public let writtenAt: Timestamp
  /// The number of bytes of the write as it is stored.
  public let byteCount: Int
  /// The number of times that the write was sent since the client was started.
  public let attempts: Int
  /// The event that the write waits for.
  public let state: State
  /// The error of the last attempt to send the write; `nil` if none failed.
  public let lastError: FirestoreError?

  /// The paths of the documents that the write changes, in order.
  public var paths: [String] { operations.map(\.path) }
}

extension Firestore {
  /// The queue of writes, oldest first, now and after each change; a consumer that falls behind gets the newest state.
  /// `await pendingWrites.current` is the queue now.
  public var pendingWrites: StatusUpdates<[PendingWrite]> {
    let firestore = self
    return statusUpdates { status in status.pendingWrites.map { PendingWrite($0, firestore) } }
  }

  /// Removes a write from the queue: its local change is undone and the write fails with `cancelled`. Later writes to
  /// the same documents stay, as if this one had never been made.
  /// - Throws: `failedPrecondition` for a write that is already on its way, `notFound` for one that is not in the
  ///   queue.
  public func cancelPendingWrite(_ id: PendingWrite.ID) async throws {
    try await ask { engine throws(RPCStatus) in try await engine.cancelWrite(BatchID(id)) }
  }
}

extension PendingWrite {
  fileprivate init(_ write: FirestoreClientState.PendingWrite, _ firestore: Firestore) {
    id = write.id.rawValue
    operations = write.mutations.map { WriteOperation(firestore: firestore, mutation: $0) }
    writtenAt = Timestamp(write.localWriteTime)
    byteCount = write.byteCount
    attempts = write.attempts
    state =
      switch write.state {
      case .held: .held
      case .queued: .queued
      case .inFlight: .inFlight
      case .backoff(let until): .backoff(until: Timestamp(until))
      }
    lastError = write.lastError.map { FirestoreError($0) }
  }
}

/// A write that the backend refused for good. Its local change is undone, but its data is kept, also across restarts,
/// until the write is sent again or dropped.
public struct RejectedWrite: Hashable, Sendable, Identifiable {
  /// The number that the write had in `Firestore.pendingWrites`.
  public let id: Int64
  /// The changes of documents that the write would have made, in order.
  public let operations: [WriteOperation]
  /// The time of the write, by this device's clock.
  public let writtenAt: Timestamp
  /// The time of the backend's refusal, by this device's clock.
  public let rejectedAt: Timestamp
  /// The number of bytes of the write as it is stored.
  public let byteCount: Int
  /// The number of times that the client which got the answer had sent the write.
  public let attempts: Int
  /// The backend's error.
  public let error: FirestoreError

  /// The paths of the documents that the write would have changed, in order.
  public var paths: [String] { operations.map(\.path) }
}

extension Firestore {
  /// The writes that the backend refused for good, oldest first, now and after each change; a consumer that falls
  /// behind gets the newest state. Writes that were taken back with `cancelPendingWrite`, or for their deadline, are not
  /// among them; those that the dashboard set aside in the same cache are, with the code `cancelled`.
  ///
  /// Rejected writes are kept per user, in the same transaction that undoes their local change. Of more than 1 000
  /// writes or 10 MiB the oldest are forgotten, but never the one that was refused last.
  public var rejectedWrites: StatusUpdates<[RejectedWrite]> {
    let firestore = self
    return statusUpdates { status in status.rejectedWrites.map { RejectedWrite($0, firestore) } }
  }

  /// Sends a rejected write again, as a new write at the end of the queue; the rejected write is forgotten in the same
  /// step. The handle fails with `notFound` for a write that is not among the rejected ones.
  @discardableResult public func resendRejectedWrite(_ id: RejectedWrite.ID) throws -> WriteHandle {
    WriteHandle(handle: try client().engine.resend(BatchID(id)))
  }

  /// Sends a batch in place of a rejected write, otherwise like `resendRejectedWrite(_:)`.
  /// - Parameter batch: a batch that is not committed; it cannot be used again.
  @discardableResult
  public func resendRejectedWrite(_ id: RejectedWrite.ID, as batch: WriteBatch) throws -> WriteHandle {
    let engine = try client().engine
    let mutations = try batch.take()
    try check(mutations)
    return WriteHandle(handle: engine.resend(BatchID(id), as: mutations))
  }

  /// Forgets a rejected write.
  /// - Throws: `notFound` for a write that is not among the rejected ones.
  public func dropRejectedWrite(_ id: RejectedWrite.ID) async throws {
    try await ask { engine throws(RPCStatus) in try await engine.dropRejectedWrite(BatchID(id)) }
  }

  /// Forgets all rejected writes of the current user.
  /// - Returns: the number of writes that were forgotten.
  @discardableResult public func dropAllRejectedWrites() async throws -> Int {
    try await ask { engine throws(RPCStatus) in try await engine.dropAllRejectedWrites() }
  }
}

extension RejectedWrite {
  fileprivate init(_ write: FirestoreClientState.RejectedWrite, _ firestore: Firestore) {
    id = write.id.rawValue
    operations = write.mutations.map { WriteOperation(firestore: firestore, mutation: $0) }
    writtenAt = Timestamp(write.localWriteTime)
    rejectedAt = Timestamp(write.rejection.time)
    byteCount = write.byteCount
    attempts = write.rejection.attempts
    error = FirestoreError(write.rejection.status)
  }
}

/// The change of one document by one write.
public struct WriteOperation: Sendable {
  /// The kind of a change.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Replaces the document (`setData`).
    case set
    /// Changes some fields and keeps the others, also if the document does not exist yet (`setData` with merge).
    case merge
    /// Changes some fields of a document that exists (`updateData`).
    case update
    /// Deletes the document.
    case delete
  }

  let firestore: Firestore
  let mutation: Mutation

  /// The kind of the change.
  public var kind: Kind {
    switch (mutation.operation, mutation.precondition) {
    case (.delete, _): .delete
    case (.set, _): .set
    case (.patch, .exists(true)), (.verify, _): .update
    case (.patch, _): .merge
    }
  }

  /// The document that is changed.
  public var document: DocumentReference { DocumentReference(firestore: firestore, key: .success(mutation.key)) }
  /// The document's path, relative to the database.
  public var path: String { mutation.key.path.text }

  /// The plain values that are written; server timestamps, increments and array operations are not among them.
  /// Empty for a deletion.
  public func data() -> [String: Any] {
    switch mutation.operation {
    case .set(let fields), .patch(let fields, _):
      ValueDecoder(firestore: firestore, behavior: .none).dictionary(fields)
    case .delete, .verify: [:]
    }
  }

  /// The paths of the fields that are removed, in the notation of `updateData`.
  public var removedFields: [String] {
    guard case .patch(let fields, let mask) = mutation.operation else { return [] }
    return mask.paths.filter { fields[$0] == nil }.map(\.canonicalText).sorted()
  }

  /// The paths of the fields whose new value the backend computes, in the notation of `updateData`.
  public var computedFields: [String] { mutation.transforms.map(\.path.canonicalText) }
}

extension WriteOperation: Hashable {
  /// Whether both are the same change of the same document of the same database.
  public static func == (left: WriteOperation, right: WriteOperation) -> Bool {
    left.firestore === right.firestore && left.mutation == right.mutation
  }

  /// Hashes the document's key.
  public func hash(into hasher: inout Hasher) { hasher.combine(mutation.key) }
}
