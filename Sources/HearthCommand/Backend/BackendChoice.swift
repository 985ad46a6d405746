// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC

/// Which backend the options name; `Connection` opens it.
enum BackendChoice: Hashable, Sendable {
  /// Inside this process, in a folder that one process uses at a time; `nil` keeps the data in memory.
  case embedded(folder: String?)
  case remote(RemoteBackend)

  var isEmbedded: Bool { if case .embedded = self { true } else { false } }
}

/// A backend that is spoken to over gRPC.
struct RemoteBackend: Hashable, Sendable {
  enum Identity: Hashable, Sendable {
    /// Whom emulators take for an administrator.
    case owner
    /// The application's default credentials, or a file of them.
    case application(file: String?)
  }

  var endpoint: Endpoint
  var identity: Identity
  /// Whether credentials go to a host where others could take them.
  var allowsInsecureCredentials = false
}
