// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreSync
public import Hearth

extension TestClient {
  /// Waits until so many writes wait for an answer.
  /// - Parameter limit: the longest time of the stage.
  /// - Throws: ``StageFailure`` with the number that waits instead.
  public func expectPending(
    _ count: Int, within limit: Duration = TestStage.patience, file: String = #fileID, line: Int = #line
  ) async throws {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let engine = opening.engine
    if try await stage.isInTime(limit, { await engine.statusNow()?.waitingWrites == count }) { return }
    let there = await engine.statusNow().map { "\($0.waitingWrites) wait" } ?? "the client is closed"
    throw stage.failure(.notInTime, "\(name): expected \(count) waiting writes within \(limit); \(there).", place)
  }

  /// Waits until the client takes itself for online, offline or neither.
  /// - Parameter limit: the longest time of the stage.
  /// - Throws: ``StageFailure`` with the phase that holds instead.
  public func expectConnection(
    _ phase: Hearth.OnlineState.Phase, within limit: Duration = TestStage.patience, file: String = #fileID,
    line: Int = #line
  ) async throws {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let engine = opening.engine
    let wanted = phase.rawValue
    if try await stage.isInTime(limit, { await engine.statusNow()?.onlineState.rawValue == wanted }) { return }
    let there = await engine.statusNow()?.onlineState.rawValue ?? "the client is closed"
    throw stage.failure(
      .notInTime, "\(name): expected the connection to be \(phase.rawValue) within \(limit); \(there).", place)
  }

  /// Waits for the next rejection of a write that no call before has read.
  /// - Parameters:
  ///   - code: the code of the rejection; `nil` for any.
  ///   - path: a document of the write; `nil` for any.
  ///   - limit: the longest time of the stage.
  /// - Returns: the backend's error.
  /// - Throws: ``StageFailure`` if none comes, or if the next one is another.
  @discardableResult
  public func expectRejected(
    _ code: FirestoreError.Code? = nil, _ path: String? = nil, within limit: Duration = TestStage.patience,
    file: String = #fileID, line: Int = #line
  ) async throws -> FirestoreError {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let rejections = opening.rejections
    let wanted =
      (["a rejected write"] + [path.map { "of \($0)" }, code.map { "with \($0.name)" }].compactMap(\.self))
      .joined(separator: " ")
    let answer = try await Patience.result(within: limit, by: stage.clock) { await rejections.next() }
    guard let answer, let error = answer.error else {
      throw stage.failure(.notInTime, "\(name): expected \(wanted) within \(limit); none was rejected.", place)
    }
    if let code, code != error.code {
      throw stage.failure(.surprise, "\(name): expected \(wanted); \(Self.text(answer)).", place)
    }
    if let path, !answer.paths.contains(path) {
      throw stage.failure(.surprise, "\(name): expected \(wanted); \(Self.text(answer)).", place)
    }
    return error
  }

  private static func text(_ answer: ClientOpening.Answer) -> String {
    "the write of \(answer.paths.joined(separator: ", ")) was rejected with \(answer.error?.code.name ?? "nothing")"
  }

  /// Waits for the acknowledgement of a write that no call before has read. Acknowledgements of other documents are passed
  /// over.
  /// - Parameters:
  ///   - path: a document of the write; `nil` for any. Of a write with more than 20 documents the first 20 are known.
  ///   - limit: the longest time of the stage.
  /// - Throws: ``StageFailure`` if none comes.
  public func expectAcknowledged(
    _ path: String? = nil, within limit: Duration = TestStage.patience, file: String = #fileID, line: Int = #line
  ) async throws {
    let place = CallPlace(file: file, line: line)
    try stage.check(place)
    let acknowledgements = opening.acknowledgements
    let answer = try await Patience.result(within: limit, by: stage.clock) { () -> ClientOpening.Answer? in
      while let answer = await acknowledgements.next() {
        if path.map({ answer.paths.contains($0) }) ?? true { return answer }
      }
      return nil
    }
    if answer == nil {
      let wanted = path.map { " of \($0)" } ?? ""
      throw stage.failure(
        .notInTime, "\(name): expected a write\(wanted) to be acknowledged within \(limit); none was.", place)
    }
  }
}
