// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The streams and timers that the core has requested. The engine adds them synchronously; `SyncEngine.run` runs them
/// as tasks, and returns when all of them have ended.
final class EngineJobs: Sendable {
  enum Job: Hashable, Sendable {
    case stream(StreamKind, StreamEpoch)
    case timer(SyncTimer, generation: Int)
  }

  struct Order: Sendable {
    var job: Job
    var delay: Duration
  }

  private struct State {
    var signals: [StreamKind: Signal] = [:]
    var tasks: [Job: Task<Void, Never>] = [:]
    /// Jobs that were abandoned before their tasks began.
    var abandoned: Set<Job> = []
    var waiting: Set<Job> = []
    var generations: [SyncTimer: Int] = [:]
    var isFinished = false
  }

  private let state = Mutex(State())
  let orders: AsyncStream<Order>
  private let continuation: AsyncStream<Order>.Continuation

  /// The executor of the jobs; `nil` for the default one.
  private let executor: (any TaskExecutor)?

  init(on executor: (any TaskExecutor)? = nil) {
    self.executor = executor
    (orders, continuation) = AsyncStream.makeStream(of: Order.self)
  }

  // MARK: Orders, from the engine

  func open(_ kind: StreamKind, _ epoch: StreamEpoch, after delay: Duration) {
    place(.stream(kind, epoch), after: delay) { $0.signals[kind] = Signal() }
  }

  func close(_ kind: StreamKind, _ epoch: StreamEpoch) { abandon(.stream(kind, epoch)) }

  func wake(_ kind: StreamKind) { state.withLock { $0.signals[kind] }?.raise() }

  func schedule(_ timer: SyncTimer, after delay: Duration) {
    cancel(timer)
    let generation = state.withLock { state in
      state.generations[timer, default: 0] += 1
      return state.generations[timer, default: 0]
    }
    place(.timer(timer, generation: generation), after: delay) { _ in }
  }

  func cancel(_ timer: SyncTimer) {
    let generation = state.withLock { $0.generations[timer, default: 0] }
    abandon(.timer(timer, generation: generation))
    state.withLock { $0.generations[timer, default: 0] += 1 }
  }

  /// Whether a timer that expired has not been replaced or canceled since (S8).
  func isCurrent(_ timer: SyncTimer, _ generation: Int) -> Bool {
    state.withLock { $0.generations[timer] == generation }
  }

  private func place(_ job: Job, after delay: Duration, _ prepare: (inout State) -> Void) {
    let accepted = state.withLock { state in
      guard !state.isFinished else { return false }
      prepare(&state)
      state.waiting.insert(job)
      return true
    }
    if accepted { continuation.yield(Order(job: job, delay: delay)) }
  }

  private func abandon(_ job: Job) {
    let task = state.withLock { state in
      if state.waiting.contains(job) { state.abandoned.insert(job) }
      return state.tasks[job]
    }
    task?.cancel()
  }

  // MARK: For the tasks

  func signal(for kind: StreamKind) -> Signal { state.withLock { $0.signals[kind] ?? Signal() } }

  /// Runs a job in a task that can be ended by `close` or `cancel`.
  func run(_ job: Job, _ work: @escaping @Sendable () async -> Void) async {
    let task = state.withLock { state -> Task<Void, Never>? in
      state.waiting.remove(job)
      guard state.abandoned.remove(job) == nil, !state.isFinished else { return nil }
      let task = Task(executorPreference: executor) { await work() }
      state.tasks[job] = task
      return task
    }
    guard let task else { return }
    await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    state.withLock { $0.tasks[job] = nil }
  }

  /// Returns when the closed streams have stopped reading and delivering messages.
  func streamsStopped() async {
    let closing = state.withLock { state in
      state.tasks.compactMap { job, task in if case .stream = job, task.isCancelled { task } else { nil } }
    }
    for task in closing { await task.value }
  }

  /// Ends all jobs. No new jobs are accepted.
  func finish() async {
    for task in stop() { await task.value }
  }

  /// Cancels all jobs. No new jobs are accepted.
  /// - Returns: the jobs that have not ended yet.
  @discardableResult
  func stop() -> [Task<Void, Never>] {
    let tasks = state.withLock { state in
      state.isFinished = true
      return state.tasks.values.map { $0 }
    }
    continuation.finish()
    for task in tasks { task.cancel() }
    return tasks
  }
}
