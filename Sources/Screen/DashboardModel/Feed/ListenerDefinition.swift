// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel
package import FirestoreQuery

/// The definition of a listener by its name, query and options: the parts that are edited, kept and exchanged.
package struct ListenerDefinition: Codable, Hashable, Sendable {
  package var name: String
  package var query: Query
  package var options: ListenerOptions

  package init(
    name: String, query: Query, options: ListenerOptions = ListenerOptions(includeMetadataChanges: true)
  ) {
    self.name = name
    self.query = query
    self.options = options
  }

  /// Whether both have the same query and options, whatever their names.
  package func asks(like other: ListenerDefinition) -> Bool { query == other.query && options == other.options }
}

extension ListenerRecord {
  package var definition: ListenerDefinition { ListenerDefinition(name: name, query: query, options: options) }

  /// Whether a user gave the name.
  package var isNamed: Bool {
    let standard = Self.defaultName(for: query)
    return name != standard
      && !(name.hasPrefix(standard + " ") && Int(name.dropFirst(standard.count + 1)) != nil)
  }
}
