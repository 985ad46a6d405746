// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreSync

/// A write that the backend has not acknowledged.
public struct PendingWrite: Hashable, Sendable, Identifiable {
  /// The state of a pending write.
  public enum State: Hashable, Sendable {
    /// The write is not sent because the network is disabled or the cache cannot be written.
    case held
    /// The write waits in the queue to be sent.
    case queued
    /// The write was sent and has no answer yet.
    case inFlight
    /// The write waits for the next connection attempt, at this time.
    case backoff(until: Timestamp)
  }

  /// The write's number, ascending for each client and unique in the cache.
  public let id: Int64
  /// The changes of documents in the write, in order.
  public let operations: [WriteOperation]
  /// The time of the write, by this device's clock.
  public let writtenAt: Timestamp
  /// The stored size of the write in bytes.
  public let byteCount: Int
  /// The number of attempts to send the write since the client was started.
  public let attempts: Int
  /// The state of the write.
  public let state: State
  /// The error of the last attempt to send the write; `nil` without a failure.
  public let lastError: FirestoreError?

  /// The paths of the documents that the write changes, in order.
  public var paths: [String] { operations.map(\.path) }
}

extension Firestore {
  /// The queue of writes, oldest first, now and after each change; a slow consumer receives the newest state. `await
  /// pendingWrites.current` is the present queue.
  public var pendingWrites: StatusUpdates<[PendingWrite]> {
    let firestore = self
    return statusUpdates { status in status.pendingWrites.map { PendingWrite($0, firestore) } }
  }

  /// Removes a write from the queue. Its local change is undone and the write fails with `cancelled`. Later writes to
  /// the same documents remain, as if this one had never been made.
  /// - Throws: `failedPrecondition` for a write that was already sent, `notFound` for one that is not in the queue.
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

/// A write that the backend rejected permanently. Its local change is undone. Its data remains stored, even after a
/// restart with a durable cache, until the write is sent again or dropped.
public struct RejectedWrite: Hashable, Sendable, Identifiable {
  /// The number that the write had in `Firestore.pendingWrites`.
  public let id: Int64
  /// The changes of documents that the write would have made, in order.
  public let operations: [WriteOperation]
  /// The time of the write, by this device's clock.
  public let writtenAt: Timestamp
  /// The time of the rejection, by this device's clock.
  public let rejectedAt: Timestamp
  /// The stored size of the write in bytes.
  public let byteCount: Int
  /// The number of attempts to send the write, by the client that received the rejection.
  public let attempts: Int
  /// The backend's error.
  public let error: FirestoreError

  /// The paths of the documents that the write would have changed, in order.
  public var paths: [String] { operations.map(\.path) }
}

extension Firestore {
  /// The writes that the backend rejected permanently, oldest first, now and after each change; a slow consumer
  /// receives the newest state. Does not include writes that were canceled by `cancelPendingWrite` or by their
  /// deadline. Includes writes that the dashboard set aside in the same cache; their error is `cancelled`.
  ///
  /// Rejected writes are stored per user, in the same transaction that undoes their local change. Beyond 1 000 writes
  /// or 10 MiB the oldest are dropped, but never the most recently rejected one.
  public var rejectedWrites: StatusUpdates<[RejectedWrite]> {
    let firestore = self
    return statusUpdates { status in status.rejectedWrites.map { RejectedWrite($0, firestore) } }
  }

  /// Sends a rejected write again, as a new write at the end of the queue, and removes it from the rejected writes in
  /// the same step. The handle fails with `notFound` if no rejected write has this number.
  @discardableResult public func resendRejectedWrite(_ id: RejectedWrite.ID) throws -> WriteHandle {
    WriteHandle(handle: try client().engine.resend(BatchID(id)))
  }

  /// Like `resendRejectedWrite(_:)`, but sends a batch instead of the rejected write.
  /// - Parameter batch: an uncommitted batch, which cannot be used again.
  @discardableResult
  public func resendRejectedWrite(_ id: RejectedWrite.ID, as batch: WriteBatch) throws -> WriteHandle {
    let engine = try client().engine
    let mutations = try batch.take()
    try check(mutations)
    return WriteHandle(handle: engine.resend(BatchID(id), as: mutations))
  }

  /// Drops a rejected write.
  /// - Throws: `notFound` if no rejected write has this number.
  public func dropRejectedWrite(_ id: RejectedWrite.ID) async throws {
    try await ask { engine throws(RPCStatus) in try await engine.dropRejectedWrite(BatchID(id)) }
  }

  /// Drops all rejected writes of the current user.
  /// - Returns: the number of dropped writes.
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
    /// Changes some fields and keeps the others. Creates a missing document (`setData` with merge).
    case merge
    /// Changes some fields of an existing document (`updateData`).
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

  /// The changed document.
  public var document: DocumentReference { DocumentReference(firestore: firestore, key: .success(mutation.key)) }
  /// The document's path, relative to the database.
  public var path: String { mutation.key.path.text }

  /// The plain values of the write. Does not contain server timestamps, increments or array operations. Empty for a
  /// deletion.
  public func data() -> [String: Any] {
    switch mutation.operation {
    case .set(let fields), .patch(let fields, _):
      ValueDecoder(firestore: firestore, behavior: .none).dictionary(fields)
    case .delete, .verify: [:]
    }
  }

  /// The paths of the removed fields, in the notation of `updateData`.
  public var removedFields: [String] {
    guard case .patch(let fields, let mask) = mutation.operation else { return [] }
    return mask.paths.filter { fields[$0] == nil }.map(\.canonicalText).sorted()
  }

  /// The paths of the fields with values that the backend computes, in the notation of `updateData`.
  public var computedFields: [String] { mutation.transforms.map(\.path.canonicalText) }
}

extension WriteOperation: Hashable {
  /// Whether both make the same change to the same document of the same database.
  public static func == (left: WriteOperation, right: WriteOperation) -> Bool {
    left.firestore === right.firestore && left.mutation == right.mutation
  }

  /// Hashes the document's key.
  public func hash(into hasher: inout Hasher) { hasher.combine(mutation.key) }
}
