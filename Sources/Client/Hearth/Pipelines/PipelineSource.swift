// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

extension Firestore {
  /// Begins a pipeline: stages through which documents go at the backend, each working on the results of the one
  /// before.
  ///
  /// The backend answers a pipeline over its own documents: local writes that it has not seen do not count.
  public func pipeline() -> PipelineSource { PipelineSource(firestore: self) }
}

/// The source of the documents of a pipeline.
public struct PipelineSource: Sendable {
  let firestore: Firestore

  /// All documents of a collection.
  public func collection(_ path: String) -> Pipeline { collection(firestore.collection(path)) }

  /// All documents of a collection.
  public func collection(_ reference: CollectionReference) -> Pipeline {
    pipeline("collection") { () throws(FirestoreError) in [.path("/" + (try reference.resourcePath.get()).text)] }
  }

  /// All documents of the collections with one id.
  public func collectionGroup(_ collectionID: String) -> Pipeline {
    pipeline("collection_group") { () throws(FirestoreError) in [.path(""), .constant(.string(collectionID))] }
  }

  /// All documents of the database.
  public func database() -> Pipeline { pipeline("database") { () throws(FirestoreError) in [] } }

  /// The named documents that exist.
  public func documents(_ references: [DocumentReference]) -> Pipeline {
    pipeline("documents") { () throws(FirestoreError) in
      var paths: [ExpressionMessage] = []
      for reference in references { paths.append(.path("/" + (try reference.key.get()).path.text)) }
      return paths
    }
  }

  /// The named documents that exist.
  public func documents(_ paths: [String]) -> Pipeline { documents(paths.map { firestore.document($0) }) }

  /// Documents that are given here by their fields and are in no database. Values may be expressions.
  public func literals(_ documents: [[String: Any]]) -> Pipeline {
    let terms = documents.map { fields in
      fields.sorted { $0.key < $1.key }.map { (name: $0.key, term: ExpressionTerm($0.value)) }
    }
    return pipeline("literals") { () throws(FirestoreError) in
      var literals: [ExpressionMessage] = []
      for fields in terms {
        var entries: [ExpressionMessage.Entry] = []
        for field in fields { entries.append(ExpressionMessage.Entry(field.name, try field.term.message.get())) }
        literals.append(.map(entries))
      }
      return literals
    }
  }

  private func pipeline(
    _ name: String, _ arguments: () throws(FirestoreError) -> [ExpressionMessage]
  ) -> Pipeline {
    Pipeline(firestore: firestore, stages: []).appending(name, arguments)
  }
}
