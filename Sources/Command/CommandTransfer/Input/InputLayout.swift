// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreJSON

/// The position of the documents in the JSON value of a file.
package enum InputLayout: String, CaseIterable, Codable, ExpressibleByArgument, Sendable {
  /// An array of documents, or an object whose members are documents, named by id or path.
  case documents
  /// Documents by collection: `{"users": {"u1": {…}}, "orders": [{…}]}`.
  case collections
  /// The format of node-firestore-import-export: `{"__collections__": {"users": {"u1": {…}}}}`.
  case marked
  /// A response of the REST interface: `{"documents": [{"name": …, "fields": …}]}`.
  case listed
  /// The format of Firefoo: `{"meta": {"app": "firefoo", …}, "data": {"u1": {…}}}`.
  case data
  /// The whole value is a single document with its path.
  case single
  /// Documents that follow each other, each on several lines.
  case sequence

  /// The layouts that `--layout` accepts. The other layouts are always recognized automatically.
  package static var allValueStrings: [String] { [Self.documents, .collections].map(\.rawValue) }

  /// Whether the documents are inside a value with the name of their collection.
  var hasCollections: Bool { self == .collections || self == .marked }

  /// The content of an element of a JSON value.
  enum Content {
    case document
    /// An array or object that contains documents.
    case level
    /// An element without documents, such as the token of the next page.
    case nothing
  }

  /// The names that tools use for the member with the collections.
  static let markers = ["__collections__", "__collections"]

  /// - Parameters:
  ///   - name: the name before the element, still encoded as JSON; `nil` in an array.
  ///   - levels: the arrays and objects that contain the element.
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
