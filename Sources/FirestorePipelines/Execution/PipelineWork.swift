// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Synchronization

/// What a pipeline has done so far, and what all its stages and expressions hold together.
///
/// Rows that a stage takes, calls of functions and elements that an expression walks over are steps; large ones count as
/// several. Once the caller has gone no step is done, and after so many of them others are let in between.
package final class PipelineWork: Sendable {
  /// Steps between two pauses: a millisecond or two.
  static let turn = 2_000
  /// What may be looked at in one step.
  static let stepBytes = 512

  /// What may be held.
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

  /// How many steps were done.
  var stepCount: Int { steps.load(ordering: .relaxed) }
  /// What is held now, and what was at the worst moment, in bytes.
  var heldBytes: Int { held.load(ordering: .relaxed) }
  var mostHeldBytes: Int { most.load(ordering: .relaxed) }

  /// Notes what is done next.
  /// - Parameter bytes: of what is looked at.
  /// - Returns: false once the caller has gone.
  func goesOn(_ bytes: Int = 0) -> Bool {
    steps.wrappingAdd(1 + bytes / Self.stepBytes, ordering: .relaxed)
    return !isOver()
  }

  /// As `goesOn`, and lets others in when it is their turn.
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

/// What one stage holds of a pipeline's memory. It is given back with the stage.
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

  /// A stage that would hold more than memory has room for.
  static func exhausted(_ stage: String, _ limit: Int) -> RPCStatus {
    RPCStatus(
      .resourceExhausted,
      "With the stage '\(stage)' the pipeline would hold more than \(limit >> 20) MiB; filter, select or limit before "
        + "it.")
  }
}
