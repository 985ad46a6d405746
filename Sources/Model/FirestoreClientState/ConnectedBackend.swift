// SPDX-License-Identifier: Apache-2.0

/// The server at the other end.
package struct ConnectedBackend: Hashable, Sendable {
  /// `cloud` holds real data: deleting there asks to type the document's name.
  package enum Kind: String, Hashable, Sendable { case embedded, emulator, cloud }
  package var kind: Kind
  package var project: String
  package var database: String
  /// The address, such as `127.0.0.1:8080`; `nil` for the embedded backend.
  package var host: String?
  /// Whether the connection is encrypted.
  package var isTLS: Bool
  /// The user who is signed in.
  package var user: String?
  /// The name of this connection in the user's file.
  package var name: String?
  /// Whether the data is real, if the user's file says so.
  package var production: Bool?
  /// Whether the user's file forbids writing.
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

  /// Whether the data counts as real: that of Cloud Firestore does, unless the user says otherwise.
  package var isProduction: Bool { production ?? (kind == .cloud) }

  /// The host, with its transport unless that is the plain text of emulators.
  package var address: String? { host.map { isTLS ? $0 + " TLS" : $0 } }
}

/// A process that uses a data directory.
package struct DataMember: Hashable, Sendable, CustomStringConvertible {
  /// The process number as this process sees it.
  package var process: Int32
  /// The program and command that run in the process, such as `hearth watch`.
  package var name: String

  package init(process: Int32, name: String) {
    self.process = process
    self.name = name
  }

  package var description: String { "process \(process) (\(name))" }
}

/// The processes that have the embedded data open together, and the one through which this process reaches the data.
package struct DataCompany: Hashable, Sendable {
  package enum Standing: Hashable, Sendable {
    /// This process has the data and serves the others.
    case owner
    /// Another process has the data and serves this one.
    case attached(to: DataMember)
    /// No process serves the data, for this reason.
    case unreachable(String)
  }

  package var standing: Standing
  /// The other processes that are attached, without this one and the owner; in the order in which they came.
  package var others: [DataMember]

  package init(_ standing: Standing, others: [DataMember] = []) {
    self.standing = standing
    self.others = others
  }

  /// Whether this process uses the data alone.
  package var isAlone: Bool { standing == .owner && others.isEmpty }
}
