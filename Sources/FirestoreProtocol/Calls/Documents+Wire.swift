// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

// The calls about one document.

package struct GetDocumentMessage: Sendable {
  package var name = ""
  /// The fields to return; `nil` for all, as in the other calls.
  package var mask: [String]?
  package var consistency = ConsistencySelector.latest
}

package struct CreateDocumentMessage: Sendable {
  package var parent = ""
  package var collectionID = ""
  /// Empty to leave the choice to the server.
  package var documentID = ""
  package var document = DocumentMessage()
  package var mask: [String]?
}

package struct UpdateDocumentMessage: Sendable {
  package var document = DocumentMessage()
  /// The fields to write; `nil` for the whole document.
  package var updateMask: [String]?
  package var mask: [String]?
  package var precondition = Precondition.none
}

package struct DeleteDocumentMessage: Sendable {
  package var name = ""
  package var precondition = Precondition.none
}

extension WireReader {
  /// The content of a `google.firestore.v1.GetDocumentRequest`.
  package mutating func getDocumentRequest() throws(WireError) -> GetDocumentMessage {
    var request = GetDocumentMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.name = try string()
      case (2, .lengthDelimited): request.mask = try documentMask()
      case (3, .lengthDelimited): request.consistency = .transaction(try byteArray())
      case (5, .lengthDelimited): request.consistency = .readTime(try timestamp())
      default: try skip(tag.type)
      }
    }
    return request
  }

  /// The content of a `google.firestore.v1.CreateDocumentRequest`.
  package mutating func createDocumentRequest() throws(WireError) -> CreateDocumentMessage {
    var request = CreateDocumentMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.parent = try string()
      case (2, .lengthDelimited): request.collectionID = try string()
      case (3, .lengthDelimited): request.documentID = try string()
      case (4, .lengthDelimited): request.document = try documentMessage()
      case (5, .lengthDelimited): request.mask = try documentMask()
      default: try skip(tag.type)
      }
    }
    return request
  }

  /// The content of a `google.firestore.v1.UpdateDocumentRequest`.
  package mutating func updateDocumentRequest() throws(WireError) -> UpdateDocumentMessage {
    var request = UpdateDocumentMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.document = try documentMessage()
      case (2, .lengthDelimited): request.updateMask = try documentMask()
      case (3, .lengthDelimited): request.mask = try documentMask()
      case (4, .lengthDelimited): request.precondition = try precondition()
      default: try skip(tag.type)
      }
    }
    return request
  }

  /// The content of a `google.firestore.v1.DeleteDocumentRequest`.
  package mutating func deleteDocumentRequest() throws(WireError) -> DeleteDocumentMessage {
    var request = DeleteDocumentMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.name = try string()
      case (2, .lengthDelimited): request.precondition = try precondition()
      default: try skip(tag.type)
      }
    }
    return request
  }
}
