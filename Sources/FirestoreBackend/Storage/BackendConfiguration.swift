// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreSQLite

/// Where the embedded backend keeps its data, how safely, and which clock it follows.
package struct BackendConfiguration: Sendable {
  package enum Location: Hashable, Sendable {
    case memory
    /// A directory that one process may hold at a time (0700, made if absent).
    case directory(String)
  }

  /// What an acknowledged commit survives. The death of the process it survives either way.
  package enum Durability: String, Hashable, Sendable, CaseIterable {
    /// A power cut may take the commits of the last seconds, newest first and each whole.
    case normal
    /// A power cut takes nothing: every commit waits for the disk, which takes milliseconds.
    case full
  }

  package var location: Location
  package var durability: Durability
  /// How many bytes of earlier versions are kept, besides that none is kept longer than an hour. Reads in the past
  /// reach back as far as both allow.
  package var keptHistoryBytes: Int64
  /// How many bytes of the database's pages are kept in memory at most.
  package var pageCacheBytes = usualPageCacheBytes
  /// Commit times follow this clock but never repeat and never go back, whatever it does.
  package var now: @Sendable () -> Timestamp
  /// Told what an operator should know while nothing has failed: one sentence or two, on the backend's executor.
  package var report: @Sendable (String) -> Void
  /// Whether other processes get at the data through this one, and need not take it for lost to them.
  package var isServed: Bool

  /// Asked about a database when it is first named; what it returns is answered in place of the database.
  package var objection: @Sendable (DatabaseID) -> RPCStatus? = { _ in nil }

  /// Keeps the upper pages of a million documents at hand.
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
  /// Beside the data: the socket on which the process that has it open serves it to others.
  package static let socketName = "hearth.sock"

  /// Whether a directory has data of a backend, in whatever state.
  package static func exists(in directory: String) -> Bool {
    DatabaseFiles(path: directory + "/" + BackendFile.name).exists
  }
}
