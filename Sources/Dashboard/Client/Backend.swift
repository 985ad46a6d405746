// SPDX-License-Identifier: Apache-2.0

extension DashboardConfiguration {
  /// The server at the other end.
  package struct Backend: Hashable, Sendable {
    /// `cloud` holds real data: deleting there asks to type the document's name.
    package enum Kind: Hashable, Sendable { case embedded, emulator, cloud }
    package var kind: Kind
    package var project: String
    package var database: String
    /// `127.0.0.1:8080`; `nil` for the embedded backend.
    package var host: String?
    /// Whether the way there is encrypted.
    package var isTLS: Bool
    /// The user that is signed in.
    package var user: String?

    package init(
      _ kind: Kind, project: String, database: String = "(default)", host: String? = nil, isTLS: Bool = false,
      user: String? = nil
    ) {
      self.kind = kind
      self.project = project
      self.database = database
      self.host = host
      self.isTLS = isTLS
      self.user = user
    }

    /// The host, and how it is spoken to where that is not the plain text of emulators.
    package var address: String? { host.map { isTLS ? $0 + " TLS" : $0 } }
  }
}

/// Why data or cache are not kept where the user expects them.
package struct StorageNotice: Hashable, Sendable {
  /// A few words for the header: `IN MEMORY: cache locked`. `nil` for what need not stand there.
  package var badge: String?
  /// What happened, and the way out.
  package var message: String

  package init(badge: String? = nil, message: String) {
    self.badge = badge
    self.message = message
  }
}
