// SPDX-License-Identifier: Apache-2.0

/// One connection of `connections.toml`: what `--connection NAME` stands for.
package struct NamedConnection: Codable, Hashable, Sendable {
  package var name: String
  /// `connections.toml:3`, for messages.
  package var place: String
  /// The usual data of this user, or that of `data`.
  package var isEmbedded = false
  package var data: String?
  package var emulator: String?
  package var isCloud = false
  package var credentials: String?
  package var host: String?
  package var trust: String?
  package var adminSecret: String?
  package var project: String?
  package var database: String?
  package var cache: String?
  /// Whether every write is refused.
  package var isReadOnly = false
  /// Whether the data is real, where the file says so.
  package var isProduction: Bool?

  init(name: String, place: String) { (self.name, self.place) = (name, place) }

  /// The keys that name a backend, as far as they are there.
  package var backends: [String] {
    let named = [
      ("embedded", isEmbedded), ("data", data != nil), ("emulator", emulator != nil), ("cloud", isCloud),
      ("credentials", credentials != nil), ("host", host != nil),
    ]
    return named.filter(\.1).map(\.0)
  }
}
