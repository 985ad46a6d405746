// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// What a pipeline gave.
public struct PipelineSnapshot: Sendable {
  /// The pipeline.
  public let pipeline: Pipeline
  /// In the order of its last stage.
  public let results: [PipelineResult]
  /// As of when.
  public let executionTime: Timestamp

  init(pipeline: Pipeline, _ response: PipelineResponse) {
    self.pipeline = pipeline
    results = response.results.map { PipelineResult(firestore: pipeline.firestore, content: $0) }
    executionTime = Timestamp(response.executionTime?.timestamp ?? FirestoreModel.Timestamp(seconds: 0))
  }
}

/// A document that came out of a pipeline, or what was made of documents.
public struct PipelineResult: Sendable {
  private let firestore: Firestore
  private let content: FirestoreProtocol.PipelineResult

  init(firestore: Firestore, content: FirestoreProtocol.PipelineResult) {
    self.firestore = firestore
    self.content = content
  }

  /// The document; `nil` for what has no name.
  public var ref: DocumentReference? {
    content.key.map { DocumentReference(firestore: firestore, key: .success($0)) }
  }

  /// The last segment of the document's path.
  public var id: String? { content.key?.documentID }
  /// When the document was made.
  public var createTime: Timestamp? { content.createTime.map { Timestamp($0.timestamp) } }
  /// When the document was changed last.
  public var updateTime: Timestamp? { content.updateTime.map { Timestamp($0.timestamp) } }

  /// All fields.
  public var data: [String: Any] { ValueDecoder(firestore: firestore, behavior: .none).dictionary(content.data.fields) }

  /// One field's value; `nil` if there is none or the name is wrong.
  public func get(_ field: some FieldName) -> Any? {
    guard let path = try? field.modelPath() else { return nil }
    return content.data[path].map(ValueDecoder(firestore: firestore, behavior: .none).any)
  }
}
