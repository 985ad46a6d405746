// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSync

extension Firestore {
  /// Takes the client offline: listeners and reads are served from the cache, writes wait in the queue. When it
  /// returns, nothing is sent or received any more.
  public func disableNetwork() async throws { await (try client()).engine.disableNetwork() }

  /// As `disableNetwork()`.
  /// - Parameter completion: called when nothing is sent or received any more, on `FirestoreSettings.dispatchQueue`.
  public func disableNetwork(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    complete(completion) { [self] in try await disableNetwork() }
  }

  /// Lets the client use the network again; waiting writes are sent.
  public func enableNetwork() async throws { await (try client()).engine.enableNetwork() }

  /// As `enableNetwork()`.
  /// - Parameter completion: called when the network may be used, on `FirestoreSettings.dispatchQueue`.
  public func enableNetwork(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    complete(completion) { [self] in try await enableNetwork() }
  }

  /// Returns when the backend has acknowledged or rejected every write made before the call; throws `cancelled` if the
  /// user changes meanwhile.
  public func waitForPendingWrites() async throws {
    let engine = try client().engine
    do { try await engine.waitForPendingWrites() } catch { throw FirestoreError(error) }
  }

  /// As `waitForPendingWrites()`.
  /// - Parameter completion: called when the writes are answered, or with the error, on
  ///   `FirestoreSettings.dispatchQueue`.
  public func waitForPendingWrites(completion: @escaping @Sendable ((any Error)?) -> Void) {
    complete(completion) { [self] in try await waitForPendingWrites() }
  }
}
