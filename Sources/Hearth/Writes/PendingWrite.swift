// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreSync

/// A write that the backend has not acknowledged.
public struct PendingWrite: Hashable, Sendable, Identifiable {
  /// What a waiting write waits for.
  public enum State: Hashable, Sendable {
    /// The network is disabled, or not used because the cache cannot be written.
    case held
    /// Waits for its turn.
    case queued
    /// Sent, not answered yet.
    case inFlight
    /// Waits for the next attempt to connect.
    case backoff(until: Timestamp)
  }

  /// Grows with each write of the client; no other write of the cache has it.
  public let id: Int64
  /// What it does, in order.
  public let operations: [WriteOperation]
  /// By this device's clock.
  public let writtenAt: Timestamp
  /// Bytes of the write as it is stored.
  public let byteCount: Int
  /// How often it was sent since the client was started.
  public let attempts: Int
  /// What it waits for.
  public let state: State
  /// Why the last attempt to send it failed.
  public let lastError: FirestoreError?

  /// The documents it changes, in order.
  public var paths: [String] { operations.map(\.path) }
}

extension Firestore {
  /// The queue of writes, oldest first, now and after each change; a consumer that falls behind gets the newest state.
  public var pendingWrites: StatusUpdates<[PendingWrite]> {
    let firestore = self
    return statusUpdates { status in status.pendingWrites.map { PendingWrite($0, firestore) } }
  }

  /// Takes a write out of the queue: its local change is undone and the write fails with `cancelled`. Later writes to
  /// the same documents stay, as if this one had never been made.
  /// - Throws: `failedPrecondition` for a write that is already on its way, `notFound` for one that is not there.
  public func cancelPendingWrite(_ id: PendingWrite.ID) async throws {
    let engine = try client().engine
    do { try await engine.cancelWrite(BatchID(id)) } catch { throw FirestoreError(error) }
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
