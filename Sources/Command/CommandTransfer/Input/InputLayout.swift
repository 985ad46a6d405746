// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreJSON

/// The place of the documents in the JSON value of a file.
package enum InputLayout: String, CaseIterable, Codable, ExpressibleByArgument, Sendable {
  /// The elements of an array, or the members of an object by id or path.
  case documents
  /// `{"users": {"u1": {…}}, "orders": [{…}]}`
  case collections
  /// `{"__collections__": {"users": {"u1": {…}}}}`, as node-firestore-import-export writes it.
  case marked
  /// `{"documents": [{"name": …, "fields": …}]}`, a response of the REST interface.
  case listed
  /// `{"meta": {"app": "firefoo", …}, "data": {"u1": {…}}}`
  case data
  /// The whole value is one document with its path.
  case single
  /// Documents one after another, each on several lines.
  case sequence

  /// The layouts that `--layout` accepts; the others are always recognized.
  package static var allValueStrings: [String] { [Self.documents, .collections].map(\.rawValue) }

  /// Whether documents have the name of their collection around them.
  var hasCollections: Bool { self == .collections || self == .marked }

  /// The meaning of an element of a JSON value.
  enum Content {
    case document
    /// An array or object with documents inside.
    case level
    /// A member without documents, such as the token of the next page.
    case nothing
  }

  /// The names of the member with collections, as tools write it.
  static let markers = ["__collections__", "__collections"]

  /// - Parameters:
  ///   - name: the name before the element, still encoded as JSON; `nil` in an array.
  ///   - levels: the open arrays and objects.
  func content(of name: String?, in levels: [InputPosition.Level]) -> Content {
    switch self {
    case .documents, .single, .sequence: .document
    case .collections: levels.count == 1 ? .level : .document
    case .marked:
      switch levels.count {
      case 1: Self.markers.contains { name == "\"\($0)\"" } ? .level : .nothing
      case 2: .level
      default: .document
      }
    case .listed: levels.count > 1 ? .document : name == "\"documents\"" ? .level : .nothing
    case .data: levels.count > 1 ? .document : name == "\"data\"" ? .level : .nothing
    }
  }
}
