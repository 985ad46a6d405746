// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
package import FirestoreClientState
import FirestoreLocal
package import FirestoreSQLite
package import FirestoreSync

extension StorageNotice {
  /// - Parameter isDataShared: another process may have the cache while the data is used together.
  package init(_ problem: CacheProblem, isDataShared: Bool = false) {
    if isDataShared, problem.isInMemory, problem.error.kind == .locked {
      self.init(
        badge: "CACHE IN MEMORY", message: "Only the cache is in memory; the data is shared. \(problem.error.message)")
      return
    }
    let badge =
      switch problem.error.kind {
      case .locked: "IN MEMORY: cache locked"
      case .notWritable: "IN MEMORY: cache not writable"
      case .notPrivate: "IN MEMORY: cache folder open to others"
      case .newerSchema: "IN MEMORY: cache of a newer version"
      case .foreign: "IN MEMORY: cache of another database"
      case .corrupt: "NEW CACHE: the old one is damaged"
      case .diskFull: "IN MEMORY: disk full"
      case .gone: "IN MEMORY: cache deleted"
      case .refused, .leaseLost, .injected, .uncertain, .sqlite: "IN MEMORY: cache cannot be opened"
      }
    self.init(badge: badge, message: problem.notice)
  }

  /// Data that could not be opened, in whose place an empty backend in memory is.
  package init(backend error: StoreError) {
    let badge =
      switch error.kind {
      case .locked: "IN MEMORY: data locked"
      case .notWritable: "IN MEMORY: data folder not writable"
      case .notPrivate: "IN MEMORY: data folder open to others"
      case .newerSchema: "IN MEMORY: data of a newer version"
      case .corrupt, .gone, .diskFull, .refused, .foreign, .leaseLost, .injected, .uncertain, .sqlite:
        "IN MEMORY: data cannot be opened"
      }
    // The beginning says what matters: a screen cuts the rest.
    self.init(
      badge: badge, message: "In memory only\(error.kind == .locked ? ": the data is in use" : ""). \(error.message)")
  }
}
