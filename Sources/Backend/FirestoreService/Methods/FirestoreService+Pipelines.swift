// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestorePipelines
import FirestoreProtocol

extension FirestoreService {
  /// The bytes of results in one message: the next ones are computed when the client has room for them.
  private static let messageBytes = 64 << 10

  /// Computes a pipeline off the caller's thread, which may be that of the connections: an expression may take long for
  /// one document.
  func executePipeline(_ bytes: [UInt8], to send: Send) async throws {
    try await withTaskExecutorPreference(globalConcurrentExecutor) { try await pipeline(bytes, to: send) }
  }

  private func pipeline(_ bytes: [UInt8], to send: Send) async throws {
    let request = try RequestReader.read(bytes) { reader throws(WireError) in try reader.executePipelineRequest() }
    let database = try ResourceName.database(request.database)
    guard let message = request.pipeline else { throw RPCStatus.invalid("A structured_pipeline is required.") }
    let pipeline = try Pipeline(message, in: database)
    let mode = try request.explainMode
    let names = DocumentNames(database)
    if mode == .explain {
      let response = PipelineResponse(explanation: message.plan)
      return try await send([WireWriter.message { $0.executePipelineResponse(response, names) }])
    }
    let start = ContinuousClock.now
    let (read, new) = try await begin(request.consistency, in: database, on: backend)
    if let new {
      try await send([WireWriter.message { $0.executePipelineResponse(PipelineResponse(transaction: new), names) }])
    }
    var executed = try await backend.execute(
      pipeline, read, in: database, check: access?.pipelines(in: database), commitCheck: access?.commits)
    var count = 0
    // The last message with results carries the statistics, so one message is kept back.
    var last: PipelineResponse?
    while let slice = try await executed.results.next() {
      count += slice.count
      hold?(slice.reduce(0) { $0 + $1.data.encoded.bytes.count })
      for results in slice.pieces(of: Self.messageBytes) {
        if let last { try await send([WireWriter.message { $0.executePipelineResponse(last, names) }]) }
        last = PipelineResponse(results: Array(results), executionTime: executed.time)
      }
    }
    if case .transaction(let id) = read, request.commitsTransaction {
      _ = try await backend.commit([], in: database, transaction: id)
    }
    var end = last ?? PipelineResponse(executionTime: executed.time)
    if mode == .analyze { end.explanation = message.plan + Self.execution(results: count, start.duration(to: .now)) }
    try await send([WireWriter.message { $0.executePipelineResponse(end, names) }])
  }

  private static func execution(results: Int, _ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    return "Execution:\n  results returned: \(results)\n  duration: \(microseconds) us\n"
  }
}

extension [PipelineResult] {
  /// Parts that hold about this many bytes, and at least one result each.
  fileprivate func pieces(of bytes: Int) -> [ArraySlice<PipelineResult>] {
    var (pieces, start, size) = ([ArraySlice<PipelineResult>](), startIndex, 0)
    for index in indices {
      size += self[index].data.encoded.bytes.count + 64
      if size >= bytes || index == endIndex - 1 {
        pieces.append(self[start...index])
        (start, size) = (index + 1, 0)
      }
    }
    return pieces
  }
}

private enum ExplainMode: String {
  case explain, analyze, execute
}

extension ExecutePipelineMessage {
  /// The mode that the option `explain_options` asks for; `nil` without it.
  fileprivate var explainMode: ExplainMode? {
    get throws(RPCStatus) {
      guard let option = options["explain_options"] else { return nil }
      guard case .constant(.map(let fields)) = option else {
        throw .invalid("The option 'explain_options' is a map with a 'mode'.")
      }
      guard let mode = fields["mode"] else { return .explain }
      guard case .string(let name) = mode, let known = ExplainMode(rawValue: name) else {
        throw .invalid("The mode of 'explain_options' is \"explain\", \"analyze\" or \"execute\".")
      }
      return known
    }
  }
}

extension PipelineMessage {
  /// The names of the stages, one a line.
  fileprivate var plan: String { "Plan:\n" + stages.map { "  \($0.name)\n" }.joined() }
}
