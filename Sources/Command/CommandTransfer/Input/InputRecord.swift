// SPDX-License-Identifier: Apache-2.0
import FirestoreExports
import FirestoreModel

/// A document in an input.
package struct InputRecord: Sendable {
  /// The name of the document if it is a member of an object. It is still encoded as JSON.
  var name: String?
  /// The name of the document's collection, if the file contains several collections. It is still encoded as JSON.
  var collection: String?
  /// The path of a document that has a name. The import rules determine this path.
  var path: ResourcePath?
  var bytes: [UInt8]
  /// The position of the document.
  var place: InputPosition
  /// The position of the document's name, or of the document if it has no name. Reading can start again there.
  var start: InputPosition
  /// The record, if the input is an export in Google's format. Such a record has no text.
  private(set) var entity: ExportReader.Record?

  init(
    name: String? = nil, collection: String? = nil, bytes: [UInt8], place: InputPosition, start: InputPosition
  ) {
    (self.name, self.collection, self.bytes, self.place, self.start) = (name, collection, bytes, place, start)
  }

  init(entity: ExportReader.Record, place: InputPosition) {
    (self.entity, bytes, self.place, start) = (entity, [], place, place)
  }

  var byteCount: Int { bytes.count + (entity?.bytes.count ?? 0) }
}

/// A position in an input file between two documents.
package struct InputPosition: Hashable, Codable, Sendable {
  /// The number of bytes before the position.
  var offset = 0
  /// The line, counted from 1.
  var line = 1
  /// The column, counted from 1 in Unicode scalars.
  var column = 1
  /// The arrays and objects of a JSON file that are open at the position, outermost first.
  var levels: [Level] = []
  /// Whether the JSON value of the whole file has ended.
  var isClosed = false
  /// The approximate number of compressed bytes before the position; `nil` for an uncompressed file.
  var compressed: Int?

  enum Container: String, Codable, Sendable { case array, object }

  /// An array or object that contains documents.
  struct Level: Hashable, Codable, Sendable {
    var container: Container
    /// The name of the array or object, still encoded as JSON; `nil` inside an array and for the outermost value.
    var name: String?
    /// Whether a comma must precede the next element.
    var followsElement = false

    var end: UInt8 { container == .array ? UInt8(ascii: "]") : UInt8(ascii: "}") }
    var endText: String { container == .array ? "\"]\"" : "\"}\"" }
  }
}
