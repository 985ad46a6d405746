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
