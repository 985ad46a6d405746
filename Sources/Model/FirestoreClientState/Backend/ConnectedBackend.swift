// SPDX-License-Identifier: Apache-2.0

/// The server at the other end.
package struct ConnectedBackend: Codable, Hashable, Sendable {
  /// `cloud` holds real data: deleting there asks to type the document's name.
  package enum Kind: Codable, Hashable, Sendable { case embedded, emulator, cloud }
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
