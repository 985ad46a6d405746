// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// The results of a pipeline.
public struct PipelineSnapshot: Sendable {
  /// The pipeline that was executed.
  public let pipeline: Pipeline
  /// The results, in the order that the last stage produced.
  public let results: [PipelineResult]
  /// The time as of which the pipeline read the documents.
  public let executionTime: Timestamp

  init(pipeline: Pipeline, _ response: PipelineResponse) {
    self.pipeline = pipeline
    results = response.results.map { PipelineResult(firestore: pipeline.firestore, content: $0) }
    executionTime = Timestamp(response.executionTime?.timestamp ?? FirestoreModel.Timestamp(seconds: 0))
  }
}

/// One result of a pipeline: a document, or computed fields.
public struct PipelineResult: Sendable {
  private let firestore: Firestore
  private let content: FirestoreProtocol.PipelineResult

  init(firestore: Firestore, content: FirestoreProtocol.PipelineResult) {
    self.firestore = firestore
    self.content = content
  }

  /// The document's reference; `nil` if the result has no document name.
  public var ref: DocumentReference? {
    content.key.map { DocumentReference(firestore: firestore, key: .success($0)) }
  }

  /// The last segment of the document's path; `nil` if the result has no document name.
  public var id: String? { content.key?.documentID }
  /// The time at which the document was created.
  public var createTime: Timestamp? { content.createTime.map { Timestamp($0.timestamp) } }
  /// The time at which the document was last changed.
  public var updateTime: Timestamp? { content.updateTime.map { Timestamp($0.timestamp) } }

  /// All fields.
  public var data: [String: Any] { ValueDecoder(firestore: firestore, behavior: .none).dictionary(content.data.fields) }

  /// The value of one field; `nil` if the field is missing or its name is invalid.
  public func get(_ field: some FieldName) -> Any? {
    guard let path = try? field.modelPath() else { return nil }
    return content.data[path].map(ValueDecoder(firestore: firestore, behavior: .none).any)
  }
}
