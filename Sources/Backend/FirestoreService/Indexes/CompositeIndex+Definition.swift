// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreJSON
package import FirestoreModel

extension CompositeIndex {
  /// The index as an entry of `firestore.indexes.json`, on one line.
  package var definition: String {
    let members = [
      JSONSyntax.Member("collectionGroup", JSONSyntax(.string(collectionID))),
      JSONSyntax.Member("queryScope", JSONSyntax(.string(isGroup ? "COLLECTION_GROUP" : "COLLECTION"))),
      JSONSyntax.Member("fields", JSONSyntax(.array(entries(of: fields)))),
    ]
    return JSONSyntax(.object(members)).lineText
  }

  /// The index as a `google.firestore.admin.v1.Index` in JSON, with the name at its end.
  /// - Parameter number: its id among the indexes of the database.
  package func deployed(_ number: Int, in database: DatabaseID) -> JSONSyntax {
    let root = "projects/\(database.project)/databases/\(database.database)"
    let name = "\(root)/collectionGroups/\(collectionID)/indexes/\(number)"
    let end = Field(path: .documentID, kind: fields.last?.kind == .descending ? .descending : .ascending)
    return JSONSyntax(
      .object([
        JSONSyntax.Member("name", JSONSyntax(.string(name))),
        JSONSyntax.Member("queryScope", JSONSyntax(.string(isGroup ? "COLLECTION_GROUP" : "COLLECTION"))),
        JSONSyntax.Member("fields", JSONSyntax(.array(entries(of: fields + [end])))),
        JSONSyntax.Member("state", JSONSyntax(.string("READY"))),
      ]))
  }

  private func entries(of fields: [Field]) -> [JSONSyntax] {
    fields.map { field in
      let (name, word) =
        switch field.kind {
        case .ascending: ("order", "ASCENDING")
        case .descending: ("order", "DESCENDING")
        case .contains: ("arrayConfig", "CONTAINS")
        }
      return JSONSyntax(
        .object([
          JSONSyntax.Member("fieldPath", JSONSyntax(.string(field.path.canonicalText))),
          JSONSyntax.Member(name, JSONSyntax(.string(word))),
        ]))
    }
  }

  /// The real service's error text for a query that needs the index, with the definition.
  func request(in database: DatabaseID) -> String {
    let page = "https://console.firebase.google.com/v1/r/project/\(database.project)/firestore/indexes"
    return "The query requires an index. You can create it here: \(page)?create_composite=\(creation(in: database)) "
      + "(for firestore.indexes.json: \(definition))"
  }

  /// The index as a `google.firestore.admin.v1.Index` in base64, for the console's address.
  private func creation(in database: DatabaseID) -> String {
    let name = "projects/\(database.project)/databases/\(database.database)/collectionGroups/\(collectionID)/indexes/_"
    let bytes = WireWriter.message { writer in
      writer.field(1, string: name)
      writer.field(2, integer: isGroup ? 2 : 1)
      for field in fields {
        writer.field(3) { entry in
          entry.field(1, string: field.path.canonicalText)
          switch field.kind {
          case .ascending: entry.field(2, integer: 1)
          case .descending: entry.field(2, integer: 2)
          case .contains: entry.field(3, integer: 1)
          }
        }
      }
      // The name ends every index, in the direction of the last field.
      writer.field(3) { entry in
        entry.field(1, string: "__name__")
        entry.field(2, integer: fields.last?.kind == .descending ? 2 : 1)
      }
    }
    return String(Base64.encode(bytes).prefix { $0 != "=" })
  }
}
