// SPDX-License-Identifier: Apache-2.0

/// One connection of `connections.toml`: what `--connection NAME` stands for.
struct NamedConnection: Codable, Hashable, Sendable {
  var name: String
  /// `connections.toml:3`, for messages.
  var place: String
  /// The usual data of this user, or that of `data`.
  var isEmbedded = false
  var data: String?
  var emulator: String?
  var isCloud = false
  var credentials: String?
  var host: String?
  var trust: String?
  var adminSecret: String?
  var project: String?
  var database: String?
  var cache: String?
  /// Whether every write is refused.
  var isReadOnly = false
  /// Whether the data is real, where the file says so.
  var isProduction: Bool?

  init(name: String, place: String) { (self.name, self.place) = (name, place) }

  /// The keys that name a backend, as far as they are there.
  var backends: [String] {
    let named = [
      ("embedded", isEmbedded), ("data", data != nil), ("emulator", emulator != nil), ("cloud", isCloud),
      ("credentials", credentials != nil), ("host", host != nil),
    ]
    return named.filter(\.1).map(\.0)
  }
}
