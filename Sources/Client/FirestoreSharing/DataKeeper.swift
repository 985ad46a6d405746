// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreSQLite
import FirestoreServer
import Glibc
import Synchronization

/// Keeps a way to the data of a directory: has it open, or is attached to the process that has it open.
///
/// ```
///            ┌──────────── the lock is free ───────────► own: serves the socket, to the end
/// searching ─┤                                                 ▲
///     ▲      └── a welcome on the socket ──► attached          │ the lock is free
///     └───────────── the owner is gone ─────────┴──────────────┘
/// ```
/// The process that holds the directory's lock owns the data. The system drops the lock, and ends the connections, of a
/// process that ends in any way; then each of the others tries for both at once, and one of them gets the lock.
final class DataKeeper: Sendable {
  enum Way: Sendable {
    case own(LocalBackend)
    case attached(Attachment)
  }

  /// A way, with the generation that tells whether it is still the same.
  struct Passage: Sendable {
    let way: Way
    fileprivate let generation: Int

    /// Whether a failure may result from the end of the way: a broken line, or a server that is being stopped.
    func isBroken(by status: RPCStatus) -> Bool {
      guard case .attached = way else { return false }
      return [.unavailable, .cancelled, .internal, .unknown].contains(status.code)
    }

    /// The reason why calls on the way are not answered, once it is over.
    var loss: String {
      switch way {
      case .own: "This process has let the data go."
      case .attached(let attachment): "The data is not open in \(attachment.owner) any more."
      }
    }
  }

  struct State {
    var way: Way?
    /// The reason why there has been no way for longer than a change of the owner takes.
    var reason: RPCStatus?
    /// The number of changes of the way and the reason so far.
    var generation = 0
    /// The random number of the data, once it is known.
    var instance: [UInt8]?
    /// The values for the thread that stays attached.
    var arrival: Attached?
    var server: SocketServer?
    var line: OwnerLine?
    var others: [DataMember] = []
    /// The reason why the owner keeps the data that this process has asked for.
    var refusal: String?
    /// Whether this process had the data and let others have it, for as long as it is stopped.
    var hasHandedOver = false
    var isClosed = false
    var observers: [Int: AsyncStream<Void>.Continuation] = [:]
    var lastObserver = 0

    func isOn(_ passage: Passage) -> Bool { generation == passage.generation }

    var passage: Passage? { way.map { Passage(way: $0, generation: generation) } }
  }

  let directory: String
  let member: DataMember
  let configuration: BackendConfiguration
  let pausesForPort: Bool
  /// The time within which the holder of the data has to share it.
  let patience: Duration
  let state = Mutex(State())
  /// The queue of the thread that searches or stays attached, on which it blocks.
  private let queue = DispatchQueue(label: "shared-data")

  init(
    _ directory: String, _ configuration: BackendConfiguration, as member: DataMember, pausesForPort: Bool,
    patience: Duration
  ) {
    self.directory = directory
    self.configuration = configuration
    self.member = member
    self.pausesForPort = pausesForPort
    self.patience = patience
  }

  /// Starts a thread that goes on as attached, or searching.
  func start(_ attached: Attached?, from search: DataSearch) {
    state.withLock { $0.arrival = attached }
    queue.async { self.keep(search) }
  }

  /// Lets the data go, and all processes that are attached to this one. If it was open here, waits until it is closed,
  /// which takes a millisecond or two, unless some work goes on for longer than a moment.
  func close() {
    guard end() else { return }
    Self.closing.withLock { _ = $0.insert(directory) }
    if ServerThread.isCurrent { return }
    let deadline = ContinuousClock.now + .milliseconds(250)
    while isClosing, .now < deadline { usleep(500) }
  }

  /// The directories that this process has let go. The server's thread closes each after whatever it still does.
  private static let closing = Mutex<Set<String>>([])
  /// The longest time that closing may take before the directory counts as one that is held.
  static let closingTime = Duration.seconds(30)

  /// Whether this process has let the directory go and has its lock still.
  var isClosing: Bool {
    guard Self.closing.withLock({ $0.contains(directory) }) else { return false }
    if holdsLock { return true }
    Self.closing.withLock { _ = $0.remove(directory) }
    return false
  }

  /// Ends the way. A function of its own, so that nothing keeps the backend while its end is waited for.
  /// - Returns: whether the data was open here.
  private func end() -> Bool {
    let (way, server, line, observers) = state.withLock { state in
      state.isClosed = true
      defer {
        (state.way, state.server, state.line, state.arrival) = (nil, nil, nil, nil)
        state.observers = [:]
      }
      return (state.way, state.server, state.line, Array(state.observers.values))
    }
    // A process that looks for the socket while the lock is still held finds none.
    if server != nil { try? DataSocket(in: directory).remove() }
    server?.close()
    if case .attached(let attachment)? = way { attachment.end() }
    line?.cut()
    for observer in observers { observer.finish() }
    if case .own? = way { return true }
    return false
  }

  /// Whether this process has the directory's lock.
  var holdsLock: Bool {
    DirectoryLock.isHeld(directory) && DirectoryLock.lastHolder(of: directory)?.process == getpid()
  }

  /// - Returns: false if the data is not wanted any more.
  @discardableResult func change(_ body: (inout State) -> Void) -> Bool {
    let observers = state.withLock { state -> [AsyncStream<Void>.Continuation]? in
      if state.isClosed { return nil }
      body(&state)
      return Array(state.observers.values)
    }
    for observer in observers ?? [] { observer.yield() }
    return observers != nil
  }

  /// A stream that yields now and after each change; ends when the data is let go.
  func changes() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let id = state.withLock { state -> Int? in
      if state.isClosed { return nil }
      state.lastObserver += 1
      state.observers[state.lastObserver] = continuation
      return state.lastObserver
    }
    guard let id else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.observers.removeValue(forKey: id) } }
    continuation.yield()
    return stream
  }

  /// The present way, or the next that comes.
  /// - Parameter known: the generation of a reason that the caller has told before and does not want again.
  /// - Throws: the reason why there is none; `cancelled`.
  func way(knowing known: Int? = nil) async throws(RPCStatus) -> Passage {
    if let passage = state.withLock({ $0.passage }) { return passage }
    for await _ in changes() {
      let (passage, reason, generation) = state.withLock { ($0.passage, $0.reason, $0.generation) }
      if let passage { return passage }
      if let reason, generation != known { throw reason }
    }
    throw Task.isCancelled
      ? RPCStatus(.cancelled, "The call was cancelled.") : RPCStatus(.unavailable, "The data was closed.")
  }

  /// Waits until a way is over, or for cancellation.
  func end(of passage: Passage) async {
    for await _ in changes() where state.withLock({ $0.generation }) != passage.generation { return }
  }

  var company: DataCompany {
    state.withLock { state in
      switch state.way {
      case .own: DataCompany(.owner, others: state.others)
      case .attached(let attachment): DataCompany(.attached(to: attachment.owner), others: state.others)
      case nil:
        DataCompany(.unreachable(state.reason?.message ?? "The data is changing hands."))
      }
    }
  }
}

/// Data that a process has to have open itself, as a server on a port does: it answers what the socket does not, and holds
/// requests to rules.
///
/// ```
/// guest ── give ──► owner ─┬─ lets the data go, and looks for it when another has it ──► the guest has the lock, or another
///                          └─ no REASON                                                  guest, who is asked next
/// ```
extension DataKeeper {
  /// The longest time for which a process that has let the data go leaves it to the others. The one that asked for it
  /// tries every ten milliseconds.
  private static let headStart = Duration.milliseconds(500)
  /// The pause between two looks at whether another process has the data.
  private static let look = Duration.milliseconds(5)
  /// The pause before an owner is asked again that has ended the connection and has the data still.
  private static let pause = Duration.milliseconds(50)

  /// Lets another process have the data, to which this one is attached then.
  /// - Returns: the reason why the data is kept; `nil` if it is let go.
  func giveUp() -> String? {
    if pausesForPort { return "it serves it on a port" }
    Task {
      await handOver(within: Self.headStart)
      let deadline = ContinuousClock.now + Self.headStart
      // The task is never cancelled, so that no sleep fails.
      while !isLockedElsewhere, .now < deadline { try? await ContinuousClock().sleep(for: Self.look) }
      takeUp()
    }
    return nil
  }

  /// Whether another process has the directory's lock.
  private var isLockedElsewhere: Bool {
    DirectoryLock.isHeld(directory) && DirectoryLock.lastHolder(of: directory)?.process != getpid()
  }

  /// Has the data open here, also if another process has it, which is asked for it.
  /// - Throws: `unavailable` if that one keeps it, says nothing or does not know the question; `cancelled`.
  func claim(until deadline: ContinuousClock.Instant) async throws(RPCStatus) {
    var asked: DataMember?
    var known: Int?
    while true {
      let passage: Passage
      do throws(RPCStatus) { passage = try await way(knowing: known) } catch {
        // An owner that was asked, and is slow to answer again, has the data still.
        let (isClosed, generation) = state.withLock { ($0.isClosed, $0.generation) }
        guard let asked, error.code != .cancelled, !isClosed else { throw error }
        if .now >= deadline { throw Self.refusal(of: asked, "it does not let it go") }
        known = generation
        continue
      }
      guard case .attached(let attachment) = passage.way else { return }
      if asked == attachment.owner {
        // An owner that ends the connection at this question has the data still.
        if .now >= deadline { throw Self.refusal(of: attachment.owner, "it does not let it go") }
        do { try await ContinuousClock().sleep(for: Self.pause) } catch { throw Self.isCancelled }
      }
      asked = attachment.owner
      change { state in
        state.refusal = nil
        state.line?.send(.claim)
      }
      switch await answer(to: passage, until: deadline) {
      case nil: continue
      case .cancelled?: throw Self.isCancelled
      case .refused(let reason)?: throw Self.refusal(of: attachment.owner, reason)
      }
    }
  }

  private static let isCancelled = RPCStatus(.cancelled, "The call was cancelled.")

  private static func refusal(of owner: DataMember, _ reason: String) -> RPCStatus {
    RPCStatus(.unavailable, "\(owner) has the data open and keeps it: \(reason).")
  }

  private enum Answer {
    case refused(String)
    case cancelled
  }

  /// - Returns: `nil` when the owner has let the data go, or is gone.
  private func answer(to passage: Passage, until deadline: ContinuousClock.Instant) async -> Answer? {
    await withTaskGroup(of: Answer?.self) { group in
      group.addTask {
        for await _ in self.changes() {
          let (refusal, isOver) = self.state.withLock { ($0.refusal, !$0.isOn(passage)) }
          if isOver { return nil }
          if let refusal { return .refused(refusal) }
        }
        return .cancelled
      }
      group.addTask {
        do { try await ContinuousClock().sleep(until: deadline) } catch { return .cancelled }
        return .refused("it does not answer")
      }
      defer { group.cancelAll() }
      return await group.next() ?? .cancelled
    }
  }
}

/// The handover before a stop: a stopped process answers no call, so that it lets others have the data before.
extension DataKeeper {
  /// The interval at which the keeper looks whether the data is closed.
  private static let glance = Duration.milliseconds(2)

  /// Lets the data go, if it is open here: calls wait and streams end. Returns when others can have it, or when some
  /// work goes on for longer than the grace.
  func handOver(within grace: Duration) async {
    guard await letGo() else { return }
    let deadline = ContinuousClock.now + grace
    // Cancelled, it looks again without a pause, until the deadline.
    while holdsLock, .now < deadline { try? await ContinuousClock().sleep(for: Self.glance) }
  }

  /// Lets the data go. A function of its own, so that nothing keeps the backend while its end is waited for.
  /// - Returns: false if the data is not open here.
  private func letGo() async -> Bool {
    var held: (backend: LocalBackend, server: SocketServer?)?
    change { state in
      guard case .own(let backend)? = state.way else { return }
      held = (backend, state.server)
      (state.way, state.server, state.others) = (nil, nil, [])
      state.hasHandedOver = true
      state.generation += 1
    }
    guard let held else { return false }
    if let server = held.server {
      // A process that looks for the socket while the lock is still held finds none.
      try? DataSocket(in: directory).remove()
      server.close()
    }
    await held.backend.endWatches(RPCStatus(.unavailable, "The process that has the data open is being stopped."))
    return true
  }

  /// Looks for the data again after `handOver`: opens it here, or is attached to the process that has it by now.
  func takeUp() {
    let hadHandedOver = state.withLock { state in
      defer { state.hasHandedOver = false }
      return state.hasHandedOver && !state.isClosed
    }
    if hadHandedOver { start(nil, from: DataSearch()) }
  }
}
