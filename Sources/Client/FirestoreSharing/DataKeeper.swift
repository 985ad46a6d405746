// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreSQLite
import FirestoreServer
import Glibc
import Synchronization

/// Keeps a directory's data reachable. Opens the data, or attaches to the process that has it open.
///
/// ```
///            ┌──────────── the lock is free ───────────► own: serves the socket, to the end
/// searching ─┤                                                 ▲
///     ▲      └── a welcome on the socket ──► attached          │ the lock is free
///     └───────────── the owner is gone ─────────┴──────────────┘
/// ```
/// The process with the directory's lock owns the data. When the owner's process ends, even if it is killed, the system
/// releases the lock and ends the connections. Then all other processes try to get the lock, and one of them succeeds.
final class DataKeeper: Sendable {
  enum Way: Sendable {
    case own(LocalBackend)
    case attached(Attachment)
  }

  /// A connection to the data, with the generation at which it was established. The generation shows whether this is
  /// still the current connection.
  struct Passage: Sendable {
    let way: Way
    fileprivate let generation: Int

    /// Whether the end of the connection may have caused a failure, such as a broken stream or a server that stops.
    func isBroken(by status: RPCStatus) -> Bool {
      guard case .attached = way else { return false }
      return [.unavailable, .cancelled, .internal, .unknown].contains(status.code)
    }

    /// The reason to report for calls that got no answer because the connection ended.
    var loss: String {
      switch way {
      case .own: "This process has closed the database."
      case .attached(let attachment): "\(attachment.owner) no longer has the data open."
      }
    }
  }

  struct State {
    var way: Way?
    /// The reason why the data is unreachable. `nil` during a normal, short change of the owner.
    var reason: RPCStatus?
    /// Increases with each change of the connection or of `reason`.
    var generation = 0
    /// The random number that identifies the data; `nil` until it is known.
    var instance: [UInt8]?
    /// The state that the thread needs to maintain a connection to the owner.
    var arrival: Attached?
    var server: SocketServer?
    var line: OwnerConnection?
    var others: [DataMember] = []
    /// The owner's reason for refusing to hand the data over to this process.
    var refusal: String?
    /// Whether this process has handed the data over because the process is about to be stopped (for example by
    /// Ctrl-Z).
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
  /// The maximum time to wait until the process that has the data open shares it.
  let patience: Duration
  let state = Mutex(State())
  /// A queue whose thread searches for the data, or maintains the connection to the owner. Both tasks block the thread.
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

  /// Starts a thread that maintains the connection `attached`, or that searches for the data.
  func start(_ attached: Attached?, from search: DataSearch) {
    state.withLock { $0.arrival = attached }
    queue.async { self.keep(search) }
  }

  /// Closes the data, and ends the attachments of other processes to this process. If this process has the data open,
  /// waits until the data is closed. Closing takes one or two milliseconds, or longer if other work must finish first.
  func close() {
    guard end() else { return }
    Self.closing.withLock { _ = $0.insert(directory) }
    if ServerThread.isCurrent { return }
    let deadline = ContinuousClock.now + .milliseconds(250)
    while isClosing, .now < deadline { usleep(500) }
  }

  /// The directories that this process is closing. The server's thread closes each directory after its current work.
  private static let closing = Mutex<Set<String>>([])
  /// The maximum time for closing a directory. After this time, the data counts as still open in this process.
  static let closingTime = Duration.seconds(30)

  /// Whether this process is closing the directory and still has its lock.
  var isClosing: Bool {
    guard Self.closing.withLock({ $0.contains(directory) }) else { return false }
    if holdsLock { return true }
    Self.closing.withLock { _ = $0.remove(directory) }
    return false
  }

  /// Ends the connection. This is a separate function so that the caller does not retain the backend while waiting for
  /// the backend to close.
  /// - Returns: whether this process had the data open.
  private func end() -> Bool {
    let (way, server, line, observers) = state.withLock { state in
      state.isClosed = true
      defer {
        (state.way, state.server, state.line, state.arrival) = (nil, nil, nil, nil)
        state.observers = [:]
      }
      return (state.way, state.server, state.line, Array(state.observers.values))
    }
    // Removes the socket first, so that no process connects to it while the lock is still held.
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

  /// - Returns: false if this process no longer needs the data.
  @discardableResult func change(_ body: (inout State) -> Void) -> Bool {
    let observers = state.withLock { state -> [AsyncStream<Void>.Continuation]? in
      if state.isClosed { return nil }
      body(&state)
      return Array(state.observers.values)
    }
    for observer in observers ?? [] { observer.yield() }
    return observers != nil
  }

  /// A stream that yields now and after each change; ends when the data is closed.
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

  /// The current connection. If there is none, waits for the next one.
  /// - Parameter known: the generation of an error that the caller has already reported, and that is therefore not
  ///   thrown again; `nil` for none.
  /// - Throws: the reason why the data is unreachable; `cancelled`.
  func way(knowing known: Int? = nil) async throws(RPCStatus) -> Passage {
    if let passage = state.withLock({ $0.passage }) { return passage }
    for await _ in changes() {
      let (passage, reason, generation) = state.withLock { ($0.passage, $0.reason, $0.generation) }
      if let passage { return passage }
      if let reason, generation != known { throw reason }
    }
    throw Task.isCancelled
      ? RPCStatus(.cancelled, "The call was canceled.") : RPCStatus(.unavailable, "The data was closed.")
  }

  /// Waits until a connection has ended, or until the task is cancelled.
  func end(of passage: Passage) async {
    for await _ in changes() where state.withLock({ $0.generation }) != passage.generation { return }
  }

  var peers: DataPeers {
    state.withLock { state in
      switch state.way {
      case .own: DataPeers(.owner, others: state.others)
      case .attached(let attachment): DataPeers(.attached(to: attachment.owner), others: state.others)
      case nil:
        DataPeers(.unreachable(state.reason?.message ?? "The data is moving to another process."))
      }
    }
  }
}

/// Handing the data over to a process (the guest) that must open the data itself. One example is a server on a port: it
/// answers requests that the socket does not support, and it applies security rules.
///
/// ```
/// guest ── give ──► owner ─┬─ closes the data, then searches for its new owner ─► the guest gets the lock, or asks the
///                          └─ no REASON                                           process that got the lock first
/// ```
extension DataKeeper {
  /// The maximum time that this process waits, after handing the data over, until another process opens the data. The
  /// requesting process tries to open it every 10 ms.
  private static let headStart = Duration.milliseconds(500)
  /// The interval at which this process checks whether another process has the data.
  private static let look = Duration.milliseconds(5)
  /// The pause before repeating the request if the owner ended the connection but still has the data.
  private static let pause = Duration.milliseconds(50)

  /// Hands the data over to another process, and then attaches to that process.
  /// - Returns: the reason why this process keeps the data; `nil` if it has handed the data over.
  func giveUp() -> String? {
    if pausesForPort { return "it serves the data on a port" }
    Task {
      await handOver(within: Self.headStart)
      let deadline = ContinuousClock.now + Self.headStart
      // The error is ignored, because the task is never canceled.
      while !isLockedElsewhere, .now < deadline { try? await ContinuousClock().sleep(for: Self.look) }
      takeUp()
    }
    return nil
  }

  /// Whether another process has the directory's lock.
  private var isLockedElsewhere: Bool {
    DirectoryLock.isHeld(directory) && DirectoryLock.lastHolder(of: directory)?.process != getpid()
  }

  /// Opens the data in this process. If another process has the data open, asks that process to hand it over.
  /// - Throws: `unavailable` if that process refuses, does not answer, or does not support the request; `cancelled` if
  ///   the task is cancelled.
  func claim(until deadline: ContinuousClock.Instant) async throws(RPCStatus) {
    var asked: DataMember?
    var known: Int?
    while true {
      let passage: Passage
      do throws(RPCStatus) { passage = try await way(knowing: known) } catch {
        // The owner still has the data if it answers the request slowly.
        let (isClosed, generation) = state.withLock { ($0.isClosed, $0.generation) }
        guard let asked, error.code != .cancelled, !isClosed else { throw error }
        if .now >= deadline { throw Self.refusal(of: asked, "it did not release the data in time") }
        known = generation
        continue
      }
      guard case .attached(let attachment) = passage.way else { return }
      if asked == attachment.owner {
        // The owner still has the data if it ended the connection after the request.
        if .now >= deadline { throw Self.refusal(of: attachment.owner, "it did not release the data in time") }
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

  private static let isCancelled = RPCStatus(.cancelled, "The call was canceled.")

  private static func refusal(of owner: DataMember, _ reason: String) -> RPCStatus {
    RPCStatus(.unavailable, "\(owner) has the data open and does not release it: \(reason).")
  }

  private enum Answer {
    case refused(String)
    case cancelled
  }

  /// - Returns: `nil` when the owner has handed the data over or has ended.
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

/// Handing the data over before this process is stopped. A stopped process cannot answer calls, so another process must
/// open the data first.
extension DataKeeper {
  /// The interval at which this process checks whether the data is closed.
  private static let glance = Duration.milliseconds(2)

  /// Closes the data if this process has it open. Calls then wait, and streams end. Returns as soon as other processes
  /// can open the data, or after `grace` if other work takes longer.
  func handOver(within grace: Duration) async {
    guard await letGo() else { return }
    let deadline = ContinuousClock.now + grace
    // The error is ignored: a canceled task checks without a pause until the deadline.
    while holdsLock, .now < deadline { try? await ContinuousClock().sleep(for: Self.glance) }
  }

  /// Closes the data. This is a separate function so that the caller does not retain the backend while waiting for the
  /// backend to close.
  /// - Returns: false if this process does not have the data open.
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
      // Removes the socket first, so that no process connects to it while the lock is still held.
      try? DataSocket(in: directory).remove()
      server.close()
    }
    await held.backend.endWatches(RPCStatus(.unavailable, "The process that has the data open is being stopped."))
    return true
  }

  /// Resumes the use of the data after `handOver`. Opens the data in this process, or attaches to the process that now
  /// has it open.
  func takeUp() {
    let hadHandedOver = state.withLock { state in
      defer { state.hasHandedOver = false }
      return state.hasHandedOver && !state.isClosed
    }
    if hadHandedOver { start(nil, from: DataSearch()) }
  }
}
