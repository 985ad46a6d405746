// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The content of an `ExecutePipelineRequest`.
package struct ExecutePipelineMessage: Sendable {
  package var database = ""
  /// The pipeline; `nil` if the request contains none.
  package var pipeline: PipelineMessage?
  package var options: [String: ExpressionMessage] = [:]
  package var consistency = ConsistencySelector.latest
  /// Whether the request asks the server to commit the transaction after sending the results.
  package var commitsTransaction = false
}

/// The content of an `ExecutePipelineResponse`.
package struct PipelineResponse: Sendable {
  package var transaction: [UInt8] = []
  package var results: [PipelineResult] = []
  package var executionTime: SnapshotVersion?
  /// The explanation as text, if the request asked for one; otherwise `nil`.
  package var explanation: String?

  package init(
    transaction: [UInt8] = [], results: [PipelineResult] = [], executionTime: SnapshotVersion? = nil,
    explanation: String? = nil
  ) {
    self.transaction = transaction
    self.results = results
    self.executionTime = executionTime
    self.explanation = explanation
  }
}

extension WireWriter {
  /// Writes the content of a `google.firestore.v1.ExecutePipelineRequest`.
  /// - Parameter time: the read time; `nil` for the newest documents.
  package mutating func executePipelineRequest(
    _ pipeline: PipelineMessage, at time: SnapshotVersion? = nil, in database: DatabaseID
  ) {
    field(1, string: database.name)
    field(2) { writer in writer.field(1) { $0.pipeline(pipeline) } }
    if let time { field(7, timestamp: time.timestamp) }
  }

  /// Writes the content of a `google.firestore.v1.ExecutePipelineResponse`.
  package mutating func executePipelineResponse(_ response: PipelineResponse, _ names: DocumentNames) {
    if !response.transaction.isEmpty { field(1, bytes: response.transaction) }
    for result in response.results { field(2) { $0.pipelineResult(result, names) } }
    if let time = response.executionTime { field(3, timestamp: time.timestamp) }
    if let explanation = response.explanation {
      field(4) { stats in
        stats.field(1) { any in
          any.field(1, string: "type.googleapis.com/google.protobuf.StringValue")
          any.field(2) { $0.field(1, string: explanation) }
        }
      }
    }
  }

  private mutating func pipelineResult(_ result: PipelineResult, _ names: DocumentNames) {
    if let key = result.key { names.write(key, as: 1, to: &self) }
    raw(result.data.encoded.bytes)
    if let createTime = result.createTime { field(3, timestamp: createTime.timestamp) }
    if let updateTime = result.updateTime { field(4, timestamp: updateTime.timestamp) }
  }
}

extension WireReader {
  /// Reads the content of a `google.firestore.v1.ExecutePipelineRequest`.
  package mutating func executePipelineRequest() throws(WireError) -> ExecutePipelineMessage {
    var request = ExecutePipelineMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.database = try string()
      case (2, .lengthDelimited): (request.pipeline, request.options) = try structuredPipeline()
      case (5, .lengthDelimited): request.consistency = .transaction(try byteArray())
      case (6, .lengthDelimited): request.consistency = .newTransaction(try transactionOptions())
      case (7, .lengthDelimited): request.consistency = .readTime(try timestamp())
      case (9, .varint): request.commitsTransaction = try boolean()
      default: try skip(tag.type)
      }
    }
    return request
  }

  /// Reads a field that contains a `google.firestore.v1.StructuredPipeline`.
  private mutating func structuredPipeline() throws(WireError) -> (PipelineMessage?, [String: ExpressionMessage]) {
    var (pipeline, options, reader) = (PipelineMessage?.none, [String: ExpressionMessage](), try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited):
        var inner = try reader.message()
        pipeline = try inner.pipeline()
      case (2, .lengthDelimited):
        let option = try reader.expressionEntry(depth: 0)
        options[option.name] = option.value
      default: try reader.skip(tag.type)
      }
    }
    return (pipeline, options)
  }

  /// Reads the content of a `google.firestore.v1.ExecutePipelineResponse`.
  package mutating func executePipelineResponse(_ names: DocumentNames) throws(WireError) -> PipelineResponse {
    var response = PipelineResponse()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): response.transaction = try byteArray()
      case (2, .lengthDelimited): response.results.append(try pipelineResult(names))
      case (3, .lengthDelimited): response.executionTime = SnapshotVersion(try timestamp())
      default: try skip(tag.type)
      }
    }
    return response
  }

  private mutating func pipelineResult(_ names: DocumentNames) throws(WireError) -> PipelineResult {
    let bytes = try lengthDelimited()
    var (reader, result) = (WireReader(bytes), PipelineResult(data: DocumentData(Fields())))
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited):
        let name = try reader.lengthDelimited()
        if !name.isEmpty { result.key = try names.key(name) }
      case (3, .lengthDelimited): result.createTime = SnapshotVersion(try reader.timestamp())
      case (4, .lengthDelimited): result.updateTime = SnapshotVersion(try reader.timestamp())
      default: try reader.skip(tag.type)
      }
    }
    result.data = DocumentData(encoded: try EncodedFields(document: bytes))
    return result
  }
}
