// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal
package import FirestoreModel
import FirestoreProtoJSON
import FirestoreProtocol
import FirestoreQuery

/// Writes the bundle format that `BundleReader` and the official SDKs read.
package struct BundleWriter {
  /// The version number of the format (SDK: BUNDLE_VERSION).
  private static let version: Int64 = 1

  private let names: DocumentNames
  private let database: DatabaseID
  /// The elements that follow the metadata, each preceded by its length.
  private var elements: [UInt8] = []
  private var documentCount = 0

  /// - Parameter database: the bundle's database. Only clients of this database can load the bundle.
  package init(_ database: DatabaseID) {
    names = DocumentNames(database)
    self.database = database
  }

  /// The number of bytes written so far, without the metadata.
  package var byteCount: Int { elements.count }

  /// Adds a query that clients can look up by name. Queries must be added before their documents.
  /// - Precondition: the query reads a collection or a collection group.
  package mutating func append(_ query: Bundle.NamedQuery) throws(RPCStatus) {
    let parent = database.name(of: query.query.collectionGroup == nil ? query.query.path.parent : query.query.path)
    elements += try Self.element { element in
      element.field(2) { named in
        named.field(1, string: query.name)
        named.field(2) { bundled in
          bundled.field(1, string: parent)
          bundled.field(2) { $0.structuredQuery(query.query) }
          if query.query.limitType == .last { bundled.field(3, varint: 1) }
        }
        named.field(3, timestamp: query.readTime.timestamp)
      }
    }
  }

  /// Adds a document, or records that the document does not exist.
  /// - Parameters:
  ///   - readTime: the document's read time.
  ///   - queries: the names of the queries whose results contain the document.
  package mutating func append(
    _ document: Document, readTime: SnapshotVersion, queries: [String] = []
  ) throws(RPCStatus) {
    let (exists, name) = (document.data != nil, database.name(of: document.key))
    elements += try Self.element { element in
      element.field(3) { metadata in
        metadata.field(1, string: name)
        metadata.field(2, timestamp: readTime.timestamp)
        if exists { metadata.field(3, boolean: true) }
        for query in queries { metadata.field(4, string: query) }
      }
    }
    if exists {
      let names = names
      elements += try Self.element { element in element.field(4) { $0.document(document, names) } }
    }
    documentCount += 1
  }

  /// The whole bundle.
  /// - Parameter createTime: the version of the bundle. A client skips the bundle if it has already loaded a bundle
  ///   with the same id and the same or a later time.
  package func bytes(id: String, createTime: SnapshotVersion) throws(RPCStatus) -> [UInt8] {
    let metadata = try Self.element { element in
      element.field(1) { metadata in
        metadata.field(1, string: id)
        metadata.field(2, timestamp: createTime.timestamp)
        metadata.field(3, integer: Self.version)
        metadata.field(4, integer: Int64(documentCount))
        metadata.field(5, integer: Int64(elements.count))
      }
    }
    return metadata + elements
  }

  /// One element as JSON, preceded by its length in bytes.
  private static func element(_ write: (inout WireWriter) -> Void) throws(RPCStatus) -> [UInt8] {
    let json: [UInt8]
    do throws(WireError) {
      json = try MessageWriter.text(of: WireWriter.message(write), Schema.bundleElement, isPretty: false)
    } catch {
      throw RPCStatus(.internal, "The bundle cannot be written: \(error.reason)")
    }
    return Array("\(json.count)".utf8) + json
  }
}
