// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreSync

/// A write that the backend has not acknowledged.
public struct PendingWrite: Hashable, Sendable, Identifiable {
  /// The state of a pending write.
  public enum State: Hashable, Sendable {
    /// The write cannot be sent, because the network is disabled or the cache cannot be written.
    case held
    /// The write is waiting in the queue to be sent.
    case queued
    /// The write was sent, and the backend has not answered yet.
    case inFlight
    /// The write waits for the next connection attempt, at this time.
    case backoff(until: Timestamp)
  }

  /// The write's number. Numbers increase with each write of a client, and are unique in the cache.
  public let id: Int64
  /// The changes that the write makes to documents, in order.
  public let operations: [WriteOperation]
  /// The time of the write, by this device's clock.
  public let writtenAt: Timestamp
  /// The stored size of the write in bytes.
  public let byteCount: Int
  /// The number of attempts to send the write since this client was opened.
  public let attempts: Int
  /// The state of the write.
  public let state: State
  /// The error of the last attempt to send the write; `nil` if that attempt did not fail.
  public let lastError: FirestoreError?

  /// The paths of the documents that the write changes, in order.
  public var paths: [String] { operations.map(\.path) }
}

extension Firestore {
  /// The queue of writes, oldest first, now and after each change. A slow consumer receives the newest state. To read
  /// the queue once, use `await pendingWrites.current`.
  public var pendingWrites: StatusUpdates<[PendingWrite]> {
    let firestore = self
    return statusUpdates { status in status.pendingWrites.map { PendingWrite($0, firestore) } }
  }

  /// Removes a write from the queue. The write's local effect is undone, and the code that made the write gets the
  /// error `cancelled`. Later writes to the same documents remain, as if the canceled write had never been made.
  /// - Throws: `failedPrecondition` if the write was already sent; `notFound` if it is not in the queue.
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

/// A write that the backend rejected permanently, so that its local effect was undone. The write remains stored until
/// it is sent again or dropped. With a durable cache, it remains even after a restart.
public struct RejectedWrite: Hashable, Sendable, Identifiable {
  /// The number that the write had in `Firestore.pendingWrites`.
  public let id: Int64
  /// The changes that the write would have made to documents, in order.
  public let operations: [WriteOperation]
  /// The time of the write, by this device's clock.
  public let writtenAt: Timestamp
  /// The time of the rejection, by this device's clock.
  public let rejectedAt: Timestamp
  /// The stored size of the write in bytes.
  public let byteCount: Int
  /// The number of attempts to send the write, as counted by the client that received the rejection.
  public let attempts: Int
  /// The backend's error.
  public let error: FirestoreError

  /// The paths of the documents that the write would have changed, in order.
  public var paths: [String] { operations.map(\.path) }
}

extension Firestore {
  /// The writes that the backend rejected permanently, oldest first, now and after each change. A slow consumer
  /// receives the newest state. The list does not include writes that were canceled by `cancelPendingWrite` or because
  /// of their deadline. It does include writes that a user set aside in a dashboard with the same cache. Their error is
  /// `cancelled`.
  ///
  /// Each user has a separate list. The client stores a rejected write in the same cache transaction that undoes its
  /// local effect. Above 1 000 writes or 10 MiB, the oldest writes are dropped, but never the most recently rejected
  /// one.
  public var rejectedWrites: StatusUpdates<[RejectedWrite]> {
    let firestore = self
    return statusUpdates { status in status.rejectedWrites.map { RejectedWrite($0, firestore) } }
  }

  /// Sends a rejected write again, as a new write at the end of the queue. In the same step, removes it from the
  /// rejected writes. The handle fails with `notFound` if no rejected write has this number.
  @discardableResult public func resendRejectedWrite(_ id: RejectedWrite.ID) throws -> WriteHandle {
    WriteHandle(handle: try client().engine.resend(BatchID(id)))
  }

  /// Like `resendRejectedWrite(_:)`, but sends a batch instead of the rejected write.
  /// - Parameter batch: an uncommitted batch, which cannot be used again afterwards.
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

/// The change that one write makes to one document.
public struct WriteOperation: Sendable {
  /// The kind of a change.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Replaces the document (`setData`).
    case set
    /// Changes some fields and keeps the other ones. If the document does not exist, creates it (`setData` with merge).
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

  /// The values that the write itself sets. Does not contain server timestamps, increments or array operations. Empty
  /// for a deletion.
  public func data() -> [String: Any] {
    switch mutation.operation {
    case .set(let fields), .patch(let fields, _):
      ValueDecoder(firestore: firestore, behavior: .none).dictionary(fields)
    case .delete, .verify: [:]
    }
  }

  /// The paths of the fields that the write removes, in the notation of `updateData`.
  public var removedFields: [String] {
    guard case .patch(let fields, let mask) = mutation.operation else { return [] }
    return mask.paths.filter { fields[$0] == nil }.map(\.canonicalText).sorted()
  }

  /// The paths of the fields whose values the backend computes, in the notation of `updateData`.
  public var computedFields: [String] { mutation.transforms.map(\.path.canonicalText) }
}

extension WriteOperation: Hashable {
  /// Whether both operations make the same change to the same document of the same database.
  public static func == (left: WriteOperation, right: WriteOperation) -> Bool {
    left.firestore === right.firestore && left.mutation == right.mutation
  }

  /// Hashes the document's key.
  public func hash(into hasher: inout Hasher) { hasher.combine(mutation.key) }
}
