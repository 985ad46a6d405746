// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreSQLite

/// The settings of the embedded backend: the place of its data, its durability, its clock and its limits.
package struct BackendConfiguration: Sendable {
  package enum Location: Hashable, Sendable {
    case memory
    /// A directory that one process may hold at a time (0700, made if absent).
    case directory(String)
  }

  /// The failure that an acknowledged commit survives beside the death of the process, which it always survives.
  package enum Durability: String, Hashable, Sendable, CaseIterable {
    /// A durability in which a power cut may take the commits of the last seconds, newest first and each whole.
    case normal
    /// A durability in which a power cut takes nothing: every commit waits for the disk, which takes milliseconds.
    case full
  }

  package var location: Location
  package var durability: Durability
  /// The most bytes of earlier versions that are kept, each for an hour at most. Reads in the past reach back as far as
  /// both limits allow.
  package var keptHistoryBytes: Int64
  /// The most bytes of the database's pages that are kept in memory.
  package var pageCacheBytes = usualPageCacheBytes
  /// The clock that commit times follow; they never repeat and never go back, whatever it does.
  package var now: @Sendable () -> Timestamp
  /// Called with facts that an operator should know while no call has failed: a sentence or two, on the backend's
  /// executor.
  package var report: @Sendable (String) -> Void
  /// Whether other processes reach the data through this one, and need not take it for lost to them.
  package var isServed: Bool

  /// Called when a database is first named; the status that it returns is the answer in place of the database.
  package var objection: @Sendable (DatabaseID) -> RPCStatus? = { _ in nil }
  /// Whether the directory is a copy that this process alone knows and may delete while it is open. A private copy
  /// refuses commits with `failedPrecondition`, and its files are not looked at again.
  package var isPrivateCopy = false

  /// The default size of the page cache, which holds the upper pages of a million documents.
  package static let usualPageCacheBytes = 16 << 20

  package init(
    location: Location, durability: Durability = .normal, keptHistoryBytes: Int64 = 64 << 20,
    isServed: Bool = false, now: @escaping @Sendable () -> Timestamp,
    report: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.location = location
    self.durability = durability
    self.keptHistoryBytes = keptHistoryBytes
    self.now = now
    self.report = report
    self.isServed = isServed
  }
}

extension LocalBackend {
  /// The name of the socket beside the data, on which the process that has it open serves it to others.
  package static let socketName = "hearth.sock"

  /// Whether a directory has data of a backend, in whatever state.
  package static func exists(in directory: String) -> Bool {
    DatabaseFiles(path: directory + "/" + BackendFile.name).exists
  }
}
