// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Synchronization

/// The steps that a pipeline has done so far, and the total memory of its stages and expressions.
///
/// Each row that a stage reads, each function call and each element that an expression iterates over is a step; large
/// values count as several steps. No step runs after the caller has stopped waiting. After every `turn` steps, other
/// tasks may run.
package final class PipelineWork: Sendable {
  /// The number of steps between two pauses. They take a millisecond or two.
  static let turn = 2_000
  /// The size in bytes that counts as one additional step.
  static let stepBytes = 512

  /// The maximum memory in bytes.
  let limit: Int
  private let isOver: @Sendable () -> Bool
  private let steps = Atomic(0)
  private let stepsAtPause = Atomic(0)
  private let held = Atomic(0)
  private let most = Atomic(0)

  init(limit: Int, isOver: @escaping @Sendable () -> Bool) {
    self.limit = limit
    self.isOver = isOver
  }

  /// The number of steps done.
  var stepCount: Int { steps.load(ordering: .relaxed) }
  /// The current and the highest memory use in bytes.
  var heldBytes: Int { held.load(ordering: .relaxed) }
  var mostHeldBytes: Int { most.load(ordering: .relaxed) }

  /// Counts the next step.
  /// - Parameter bytes: the size of the values that the step reads.
  /// - Returns: whether to continue; false once the caller has stopped waiting for the result.
  func goesOn(_ bytes: Int = 0) -> Bool {
    steps.wrappingAdd(1 + bytes / Self.stepBytes, ordering: .relaxed)
    return !isOver()
  }

  /// Counts the next step. Yields to other tasks after every `turn` steps.
  func step(_ bytes: Int = 0) async throws(RPCStatus) {
    guard goesOn(bytes) else { throw .cancelled }
    let count = stepCount
    if count - stepsAtPause.load(ordering: .relaxed) < Self.turn { return }
    stepsAtPause.store(count, ordering: .relaxed)
    await Task.yield()
  }

  /// - Returns: false if the bytes exceed the limit; they are then not counted.
  func hold(_ bytes: Int) -> Bool {
    let sum = held.wrappingAdd(bytes, ordering: .relaxed).newValue
    if sum > limit {
      release(bytes)
      return false
    }
    if sum > mostHeldBytes { most.store(sum, ordering: .relaxed) }
    return true
  }

  func release(_ bytes: Int) { held.wrappingSubtract(bytes, ordering: .relaxed) }
}

/// The part of a pipeline's memory that one stage uses. It is released with the stage.
final class Holding: Sendable {
  private let stage: String
  private let work: PipelineWork
  private let count = Atomic(0)

  init(_ stage: String, _ work: PipelineWork) {
    self.stage = stage
    self.work = work
  }

  deinit { clear() }

  /// - Returns: false if the bytes do not fit.
  func takes(_ bytes: Int) -> Bool {
    guard work.hold(bytes) else { return false }
    count.wrappingAdd(bytes, ordering: .relaxed)
    return true
  }

  /// - Throws: `resource-exhausted` if the bytes do not fit.
  func add(_ bytes: Int) throws(RPCStatus) {
    if !takes(bytes) { throw .exhausted(stage, work.limit) }
  }

  func remove(_ bytes: Int) {
    count.wrappingSubtract(bytes, ordering: .relaxed)
    work.release(bytes)
  }

  func clear() { work.release(count.exchange(0, ordering: .relaxed)) }
}

extension RPCStatus {
  static let cancelled = RPCStatus(.cancelled, "The request was cancelled.")

  /// The error of a stage that would exceed the memory limit.
  static func exhausted(_ stage: String, _ limit: Int) -> RPCStatus {
    RPCStatus(
      .resourceExhausted,
      "At the stage '\(stage)' the pipeline would need more than \(limit >> 20) MiB of memory. Add a filter, a select "
        + "or a limit before this stage.")
  }
}
