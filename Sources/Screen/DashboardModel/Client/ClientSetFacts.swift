// SPDX-License-Identifier: Apache-2.0

/// One client's information about all clients on the screen. Updated before the client handles a key.
package struct ClientSetFacts: Hashable, Sendable {
  package struct Client: Hashable, Sendable {
    package var name: String
    package var user: String?
    /// The count of pending writes and stored rejected writes.
    package var unsent: Int
    /// Whether the cache remains when the program ends.
    package var isDurable: Bool

    package init(name: String, user: String? = nil, unsent: Int = 0, isDurable: Bool = false) {
      self.name = name
      self.user = user
      self.unsent = unsent
      self.isDurable = isDurable
    }
  }

  /// The name of the client that this information is for.
  package var own: String
  /// All clients in screen order. The first client is the one that the program started with.
  package var clients: [Client]

  package init(own: String, clients: [Client]) {
    self.own = own
    self.clients = clients
  }

  /// The name of the first client until a second client is added.
  package static let firstName = "one"
  /// The default names of clients that are added.
  package static let names = [firstName, "two", "three", "four"]
  /// The maximum count of clients on one screen.
  package static let mostClients = 4

  /// The other clients whose pending writes are lost when the program ends.
  package var endangered: [Client] { clients.filter { $0.name != own && !$0.isDurable && $0.unsent > 0 } }
}
