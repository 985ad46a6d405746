// SPDX-License-Identifier: Apache-2.0

/// The backend that the client is connected to.
package struct ConnectedBackend: Hashable, Sendable {
  /// The kind of backend. A `cloud` backend contains real data, so the user must type a document's name to delete it.
  package enum Kind: String, Hashable, Sendable { case embedded, emulator, cloud }
  package var kind: Kind
  package var project: String
  package var database: String
  /// The backend's address, such as `127.0.0.1:8080`; `nil` for the embedded backend.
  package var host: String?
  /// Whether the connection is encrypted.
  package var isTLS: Bool
  /// The signed-in user.
  package var user: String?
  /// The name of this connection in the user's configuration file.
  package var name: String?
  /// Whether the user's configuration file declares the data as real; `nil` if the file does not specify this.
  package var production: Bool?
  /// Whether the user's configuration file forbids writing; `nil` if the file does not specify this.
  package var isReadOnly: Bool?

  package init(
    _ kind: Kind, project: String, database: String = "(default)", host: String? = nil, isTLS: Bool = false,
    user: String? = nil, name: String? = nil, production: Bool? = nil, isReadOnly: Bool? = nil
  ) {
    self.kind = kind
    self.project = project
    self.database = database
    self.host = host
    self.isTLS = isTLS
    self.user = user
    self.name = name
    self.production = production
    self.isReadOnly = isReadOnly
  }

  /// Whether the data counts as real. By default, this is so only for data in Cloud Firestore.
  package var isProduction: Bool { production ?? (kind == .cloud) }

  /// The host, followed by ` TLS` if the connection is encrypted.
  package var address: String? { host.map { isTLS ? $0 + " TLS" : $0 } }
}

/// A process that uses a data directory.
package struct DataMember: Hashable, Sendable, CustomStringConvertible {
  /// The process id, in the process id namespace of this process.
  package var process: Int32
  /// The program and command that run in the process, such as `hearth watch`.
  package var name: String

  package init(process: Int32, name: String) {
    self.process = process
    self.name = name
  }

  package var description: String { "process \(process) (\(name))" }
}

/// The processes that share the embedded data, and how this process reaches it.
package struct DataPeers: Hashable, Sendable {
  package enum Role: Hashable, Sendable {
    /// This process owns the data and serves it to the others.
    case owner
    /// Another process owns the data and serves it to this process.
    case attached(to: DataMember)
    /// No process serves the data; the value is the reason.
    case unreachable(String)
  }

  package var role: Role
  /// All attached processes except this process and the owner, in the order in which they attached.
  package var others: [DataMember]

  package init(_ role: Role, others: [DataMember] = []) {
    self.role = role
    self.others = others
  }

  /// Whether this process is the only one that uses the data.
  package var isAlone: Bool { role == .owner && others.isEmpty }
}
