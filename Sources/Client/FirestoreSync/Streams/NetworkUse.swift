// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The client's use of the network: the reasons against it, and the last failure to reach the backend.
struct NetworkUse: Sendable {
  /// A reason why the network is not used. It is used when there is none left.
  enum OfflineCause: Hashable, Sendable {
    case disabledByUser
    /// The store failed; until it works again no message may arrive that would have to be stored.
    case storageFailed
    case userChanging
    /// Another client that shares the cache has the streams.
    case secondary
  }

  private var causes: Set<OfflineCause> = []
  /// The last failure to reach the backend, until it answers, or the network or the user changes: also while nothing is
  /// wanted of it.
  private(set) var failure: RPCStatus?

  var isAllowed: Bool { causes.isEmpty }

  func isStopped(by cause: OfflineCause) -> Bool { causes.contains(cause) }

  /// Whether pending writes are held. They are not where the streams are merely another client's, which sends them.
  var holdsWrites: Bool { !causes.isSubset(of: [.secondary]) }

  /// - Returns: whether this reason is new.
  @discardableResult
  mutating func stop(by cause: OfflineCause) -> Bool { causes.insert(cause).inserted }

  /// - Returns: whether there was this reason.
  @discardableResult
  mutating func clear(_ cause: OfflineCause) -> Bool { causes.remove(cause) != nil }

  mutating func failed(_ status: RPCStatus) { failure = status }

  /// Forgets the last failure: the backend has answered, or is not asked any more.
  mutating func forgetFailure() { failure = nil }
}
