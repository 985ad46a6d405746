// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSync

/// Both stages of a write.
///
/// In every official SDK awaiting a write means awaiting the backend, which while offline is forever. With a handle a
/// caller awaits what it needs:
/// ```swift
/// let write = try city.enqueueData(["name": "Paris"])
/// try await write.local            // durable here, and visible to listeners
/// try await write.acknowledged     // committed by the backend
/// ```
/// A handle that nobody awaits changes nothing: the write goes its way.
public struct WriteHandle: Sendable {
  let handle: FirestoreSync.WriteHandle

  /// The write's number in `Firestore.pendingWrites`; available together with `local`.
  public var id: Int64 {
    get async throws {
      do { return try await handle.local.rawValue } catch { throw FirestoreError(error) }
    }
  }

  /// Returns once the write survives the process (with a durable cache) and is visible to listeners. Throws if the
  /// cache cannot take it; then nothing was written.
  public var local: Void {
    get async throws { _ = try await id }
  }

  /// Returns when the backend has committed the write; throws its rejection, after which the local change is undone.
  /// Waits while the client is offline.
  public var acknowledged: Void {
    get async throws {
      do { _ = try await handle.acknowledged } catch { throw FirestoreError(error) }
    }
  }
}
