// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Synchronization

/// The steps that a pipeline has done so far, and the memory that all its stages and expressions hold together.
///
/// Rows that a stage takes, calls of functions and elements that an expression walks over are steps; large ones count
/// as several. No step is done once the caller has gone, and after every `turn` steps other tasks may run.
package final class PipelineWork: Sendable {
  /// Steps between two pauses: a millisecond or two.
  static let turn = 2_000
  /// The number of bytes that one step may read.
  static let stepBytes = 512

  /// The most bytes that may be held.
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
  /// The bytes held now, and the most that were held at any moment.
  var heldBytes: Int { held.load(ordering: .relaxed) }
  var mostHeldBytes: Int { most.load(ordering: .relaxed) }

  /// Counts the next step.
  /// - Parameter bytes: the size of the values that the step reads.
  /// - Returns: false once the caller has gone.
  func goesOn(_ bytes: Int = 0) -> Bool {
    steps.wrappingAdd(1 + bytes / Self.stepBytes, ordering: .relaxed)
    return !isOver()
  }

  /// Counts the next step, and lets other tasks run after every `turn` steps.
  func step(_ bytes: Int = 0) async throws(RPCStatus) {
    guard goesOn(bytes) else { throw .cancelled }
    let count = stepCount
    if count - stepsAtPause.load(ordering: .relaxed) < Self.turn { return }
    stepsAtPause.store(count, ordering: .relaxed)
    await Task.yield()
  }

  /// - Returns: false if there is no room for so many bytes; then they do not count.
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

/// The part of a pipeline's memory that one stage holds. It is given back with the stage.
final class Holding: Sendable {
  private let stage: String
  private let work: PipelineWork
  private let count = Atomic(0)

  init(_ stage: String, _ work: PipelineWork) {
    self.stage = stage
    self.work = work
  }

  deinit { clear() }

  /// - Returns: false if there is no room for so many bytes.
  func takes(_ bytes: Int) -> Bool {
    guard work.hold(bytes) else { return false }
    count.wrappingAdd(bytes, ordering: .relaxed)
    return true
  }

  /// - Throws: `resource-exhausted` if there is no room for so many bytes.
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

  /// The error of a stage that would hold more memory than the limit.
  static func exhausted(_ stage: String, _ limit: Int) -> RPCStatus {
    RPCStatus(
      .resourceExhausted,
      "With the stage '\(stage)' the pipeline would hold more than \(limit >> 20) MiB; filter, select or limit before "
        + "it.")
  }
}
