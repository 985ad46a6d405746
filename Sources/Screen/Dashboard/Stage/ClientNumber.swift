// SPDX-License-Identifier: Apache-2.0

/// The number of a client on the screen. No other client ever gets it, not even one of the same name.
package struct ClientNumber: Hashable, Comparable, Sendable {
  package let rawValue: Int

  package init(_ rawValue: Int) { self.rawValue = rawValue }

  package static func < (left: ClientNumber, right: ClientNumber) -> Bool { left.rawValue < right.rawValue }
}

/// An action or an effect of one of several clients.
package struct OfClient<Item: Sendable>: Sendable {
  package var client: ClientNumber
  package var item: Item

  package init(_ client: ClientNumber, _ item: Item) {
    self.client = client
    self.item = item
  }
}
