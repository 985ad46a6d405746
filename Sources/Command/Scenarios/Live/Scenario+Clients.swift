// SPDX-License-Identifier: Apache-2.0

extension Scenario {
  /// The name on a screen of a client that has none.
  package static let unnamedClient = "client"

  /// The names of the clients in the order in which they are opened.
  package var clientNames: [String] {
    var names: [String] = []
    for step in steps {
      let name: String?
      if step.action.opens {
        name = step.client
      } else {
        name = step.client == nil && step.action.needsClient ? Self.unnamedClient : nil
      }
      if let name, !names.contains(name) { names.append(name) }
    }
    return names.isEmpty ? [Self.unnamedClient] : names
  }
}
