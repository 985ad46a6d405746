// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A `google.firestore.v1.Pipeline` as it came, or as it is to be sent: stages by their names, none of them checked.
package struct PipelineMessage: Hashable, Sendable {
  package struct Stage: Hashable, Sendable {
    package var name: String
    package var arguments: [ExpressionMessage]
    package var options: [String: ExpressionMessage]

    package init(
      _ name: String, _ arguments: [ExpressionMessage] = [], options: [String: ExpressionMessage] = [:]
    ) {
      self.name = name
      self.arguments = arguments
      self.options = options
    }
  }

  /// The greatest depth of nested expressions and pipelines, so that hostile bytes cannot exhaust the stack.
  package static let maximumDepth = 64

  package var stages: [Stage]

  package init(_ stages: [Stage] = []) { self.stages = stages }

  /// Whether the last stage writes.
  package var writes: Bool { stages.last.map { ["update", "delete"].contains($0.name) } ?? false }
}

/// A `google.firestore.v1.Value` of a pipeline: a constant, or an expression that is evaluated for each document.
package indirect enum ExpressionMessage: Hashable, Sendable {
  package struct Entry: Hashable, Sendable {
    package var name: String
    package var value: ExpressionMessage

    package init(_ name: String, _ value: ExpressionMessage) {
      self.name = name
      self.value = value
    }
  }

  case constant(Value)
  /// A reference that does not name a document of a database, such as `/books`.
  case path(String)
  /// The text of a field's path.
  case field(String)
  case variable(String)
  case function(String, [ExpressionMessage], options: [String: ExpressionMessage])
  /// An array that is not constant.
  case array([ExpressionMessage])
  /// A map that is not constant.
  case map([Entry])
  case pipeline(PipelineMessage)

  package static func function(_ name: String, _ arguments: [ExpressionMessage]) -> ExpressionMessage {
    .function(name, arguments, options: [:])
  }

  /// A map of expressions by name.
  package static func named(_ expressions: [(name: String, value: ExpressionMessage)]) -> ExpressionMessage {
    .map(expressions.map { Entry($0.name, $0.value) })
  }
}

/// One result of a pipeline: a document, or fields that were made of documents, without a name.
package struct PipelineResult: Sendable {
  package var key: DocumentKey?
  package var createTime: SnapshotVersion?
  package var updateTime: SnapshotVersion?
  package var data: DocumentData

  package init(
    key: DocumentKey? = nil, createTime: SnapshotVersion? = nil, updateTime: SnapshotVersion? = nil, data: DocumentData
  ) {
    self.key = key
    self.createTime = createTime
    self.updateTime = updateTime
    self.data = data
  }

  /// Makes the result of a document.
  /// - Precondition: the document exists.
  package init(_ document: Document) {
    self.init(
      key: document.key, createTime: document.createTime, updateTime: document.version,
      data: document.data ?? DocumentData(Fields()))
  }
}
