// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreLocal

/// Why data is not kept where the user expects it.
struct StorageProblem: Hashable, Sendable {
  /// A few words for the header.
  var badge: String
  /// What happened, and the way out.
  var message: String

  init(cache kind: LocalStoreError.Kind, _ message: String) {
    self.message = message
    badge =
      switch kind {
      case .locked: "IN MEMORY: cache locked"
      case .notWritable: "IN MEMORY: cache not writable"
      case .notPrivate: "IN MEMORY: cache folder open to others"
      case .newerSchema: "IN MEMORY: cache of a newer version"
      case .foreign: "IN MEMORY: cache of another database"
      case .corrupt: "NEW CACHE: the old one is damaged"
      case .diskFull: "IN MEMORY: disk full"
      case .injected, .sqlite: "IN MEMORY: cache cannot be opened"
      }
  }

  init(backend error: BackendError) {
    // The beginning says what matters: a screen cuts the rest.
    message = "In memory only\(error.kind == .locked ? ": the data is in use" : ""). \(error.message)"
    badge =
      switch error.kind {
      case .locked: "IN MEMORY: data locked"
      case .notWritable: "IN MEMORY: data folder not writable"
      case .notPrivate: "IN MEMORY: data folder open to others"
      case .newerSchema: "IN MEMORY: data of a newer version"
      case .corrupt, .diskFull, .refused, .sqlite: "IN MEMORY: data cannot be opened"
      }
  }
}
