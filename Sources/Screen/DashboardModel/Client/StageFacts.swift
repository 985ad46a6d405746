// SPDX-License-Identifier: Apache-2.0

/// The clients on one screen as one of them knows them; refreshed before each of its keys.
package struct StageFacts: Hashable, Sendable {
  package struct Client: Hashable, Sendable {
    package var name: String
    package var user: String?
    /// The number of writes that the server has not taken: those that wait, and refused ones that are kept.
    package var unsent: Int
    /// Whether the cache outlives the program.
    package var isDurable: Bool

    package init(name: String, user: String? = nil, unsent: Int = 0, isDurable: Bool = false) {
      self.name = name
      self.user = user
      self.unsent = unsent
      self.isDurable = isDurable
    }
  }

  /// The name of the client that knows this.
  package var own: String
  /// All clients in the order of the screen. The first one is that with which the program began.
  package var clients: [Client]

  package init(own: String, clients: [Client]) {
    self.own = own
    self.clients = clients
  }

  /// The name of the client with which the program began, before there are others.
  package static let firstName = "one"
  /// The names of clients that are asked for by their number.
  package static let names = [firstName, "two", "three", "four"]
  /// The number of clients that one screen has room for.
  package static let mostClients = 4

  /// The other clients whose writes would be lost with the program.
  package var endangered: [Client] { clients.filter { $0.name != own && !$0.isDurable && $0.unsent > 0 } }
}
