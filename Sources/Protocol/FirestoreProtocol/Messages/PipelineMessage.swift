// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The content of a `google.firestore.v1.Pipeline`, either received or to be sent. Stages are identified by name and
/// not validated.
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

  /// The maximum depth of nested expressions and pipelines. It protects the stack from malicious messages.
  package static let maximumDepth = 64

  package var stages: [Stage]

  package init(_ stages: [Stage] = []) { self.stages = stages }

  /// Whether the last stage writes documents.
  package var writes: Bool { stages.last.map { ["update", "delete"].contains($0.name) } ?? false }
}

/// A `google.firestore.v1.Value` in a pipeline: a constant, or an expression that is evaluated for each document.
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
  /// A reference that is not the full name of a document in a database, such as `/books`.
  case path(String)
  /// A field path, as text.
  case field(String)
  case variable(String)
  case function(String, [ExpressionMessage], options: [String: ExpressionMessage])
  /// An array that contains expressions, so that it is not constant.
  case array([ExpressionMessage])
  /// A map that contains expressions, so that it is not constant.
  case map([Entry])
  case pipeline(PipelineMessage)

  package static func function(_ name: String, _ arguments: [ExpressionMessage]) -> ExpressionMessage {
    .function(name, arguments, options: [:])
  }

  /// Creates a map of expressions by name.
  package static func named(_ expressions: [(name: String, value: ExpressionMessage)]) -> ExpressionMessage {
    .map(expressions.map { Entry($0.name, $0.value) })
  }
}

/// One result of a pipeline: a document, or computed fields without a name.
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

  /// Creates the result for a document.
  /// - Precondition: the document exists.
  package init(_ document: Document) {
    self.init(
      key: document.key, createTime: document.createTime, updateTime: document.version,
      data: document.data ?? DocumentData(Fields()))
  }
}

extension WireReader {
  /// Reads the content of a `google.firestore.v1.Pipeline`.
  package mutating func pipeline(depth: Int = 0) throws(WireError) -> PipelineMessage {
    guard depth <= PipelineMessage.maximumDepth else { throw .deepPipeline }
    var pipeline = PipelineMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): pipeline.stages.append(try stage(depth: depth + 1))
      default: try skip(tag.type)
      }
    }
    return pipeline
  }

  private mutating func stage(depth: Int) throws(WireError) -> PipelineMessage.Stage {
    let call = try call(depth: depth)
    return PipelineMessage.Stage(call.name, call.arguments, options: call.options)
  }

  /// Reads a field that contains a `Pipeline.Stage` or a `Function`. Both have the same form.
  private mutating func call(
    depth: Int
  ) throws(WireError) -> (name: String, arguments: [ExpressionMessage], options: [String: ExpressionMessage]) {
    var (name, arguments, options) = ("", [ExpressionMessage](), [String: ExpressionMessage]())
    var reader = try message()
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): name = try reader.string()
      case (2, .lengthDelimited): arguments.append(try reader.expressionField(depth: depth))
      case (3, .lengthDelimited):
        let option = try reader.expressionEntry(depth: depth)
        options[option.name] = option.value
      default: try reader.skip(tag.type)
      }
    }
    return (name, arguments, options)
  }

  /// Reads a field that contains a `google.firestore.v1.Value` of a pipeline.
  package mutating func expressionField(depth: Int) throws(WireError) -> ExpressionMessage {
    guard depth <= PipelineMessage.maximumDepth else { throw .deepPipeline }
    let bytes = try lengthDelimited()
    var (reader, result) = (WireReader(bytes), ExpressionMessage?.none)
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (5, .lengthDelimited): result = .reference(try reader.string())
      case (6, .lengthDelimited): result = try reader.expressionMap(depth: depth)
      case (9, .lengthDelimited): result = try reader.expressionArray(depth: depth)
      case (19, .lengthDelimited): result = .field(try reader.string())
      case (20, .lengthDelimited):
        let call = try reader.call(depth: depth + 1)
        result = .function(call.name, call.arguments, options: call.options)
      case (21, .lengthDelimited):
        var inner = try reader.message()
        result = .pipeline(try inner.pipeline(depth: depth + 1))
      case (22, .lengthDelimited): result = .variable(try reader.string())
      default: try reader.skip(tag.type)
      }
    }
    if let result { return result }
    var plain = WireReader(bytes)
    return .constant(try plain.value())
  }

  private mutating func expressionArray(depth: Int) throws(WireError) -> ExpressionMessage {
    var (reader, elements) = (try message(), [ExpressionMessage]())
    while let tag = try reader.tag() {
      if tag.field == 1, tag.type == .lengthDelimited {
        elements.append(try reader.expressionField(depth: depth + 1))
      } else {
        try reader.skip(tag.type)
      }
    }
    var values: [Value] = []
    for element in elements {
      guard case .constant(let value) = element else { return .array(elements) }
      values.append(value)
    }
    return .constant(.array(values))
  }

  private mutating func expressionMap(depth: Int) throws(WireError) -> ExpressionMessage {
    var (reader, entries) = (try message(), [ExpressionMessage.Entry]())
    while let tag = try reader.tag() {
      if tag.field == 1, tag.type == .lengthDelimited {
        entries.append(try reader.expressionEntry(depth: depth + 1))
      } else {
        try reader.skip(tag.type)
      }
    }
    var fields: [Fields.Entry] = []
    for entry in entries {
      guard case .constant(let value) = entry.value else { return .map(entries) }
      fields.append((entry.name, value))
    }
    return .constant(Value(map: Fields(unsorted: fields)))
  }

  /// Reads a field that contains a map entry.
  mutating func expressionEntry(depth: Int) throws(WireError) -> ExpressionMessage.Entry {
    var (reader, name, value) = (try message(), "", ExpressionMessage?.none)
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): name = try reader.string()
      case (2, .lengthDelimited): value = try reader.expressionField(depth: depth)
      default: try reader.skip(tag.type)
      }
    }
    guard let value else { throw .untypedValue }
    return ExpressionMessage.Entry(name, value)
  }
}

extension WireError {
  fileprivate static let deepPipeline = WireError(
    "a pipeline is nested more than \(PipelineMessage.maximumDepth) deep")
}

extension ExpressionMessage {
  /// Creates a reference from its text form.
  /// - Parameter text: the full name of a document, or a path.
  package static func reference(_ text: String) -> ExpressionMessage {
    Value(referenceName: text).map { .constant($0) } ?? .path(text)
  }
}

extension WireWriter {
  /// Writes the content of a `google.firestore.v1.Pipeline`.
  package mutating func pipeline(_ pipeline: PipelineMessage) {
    for stage in pipeline.stages { field(1) { $0.call(stage.name, stage.arguments, stage.options) } }
  }

  /// Writes the content of a `Pipeline.Stage` or a `Function`.
  private mutating func call(
    _ name: String, _ arguments: [ExpressionMessage], _ options: [String: ExpressionMessage]
  ) {
    field(1, string: name)
    for argument in arguments { field(2) { $0.expression(argument) } }
    expressions(3, options.sorted { $0.key < $1.key }.map { ExpressionMessage.Entry($0.key, $0.value) })
  }

  private mutating func expressions(_ number: Int, _ entries: [ExpressionMessage.Entry]) {
    for entry in entries {
      field(number) { writer in
        writer.field(1, string: entry.name)
        writer.field(2) { $0.expression(entry.value) }
      }
    }
  }

  /// Writes the content of a `google.firestore.v1.Value` of a pipeline.
  package mutating func expression(_ expression: ExpressionMessage) {
    switch expression {
    case .constant(let value): self.value(value)
    case .path(let text): field(5, string: text)
    case .field(let path): field(19, string: path)
    case .variable(let name): field(22, string: name)
    case .function(let name, let arguments, let options): field(20) { $0.call(name, arguments, options) }
    case .array(let elements):
      field(9) { writer in for element in elements { writer.field(1) { $0.expression(element) } } }
    case .map(let entries): field(6) { $0.expressions(1, entries) }
    case .pipeline(let inner): field(21) { $0.pipeline(inner) }
    }
  }
}
