// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel
import FirestoreProtocol
import Synchronization

/// A network between a client and its backend that can be broken manually or randomly. The datastores that use the
/// network, and the controls that break it, share one injector. The injector is seeded, so that a run can be repeated.
package final class FaultInjector: Sendable {
  private struct Call {
    let lane: FaultLane
    let breaks: AsyncStream<RPCStatus>.Continuation
  }

  private struct State {
    var settings = FaultSettings()
    var waiting = WaitingFaults()
    var randomness: UInt64
    var calls: [Int: Call] = [:]
    var lastCall = 0
    /// Whether a flapping network is currently down.
    var isAway = false
    var flapping: Task<Void, Never>?
    /// The tokens that the backend has sent since a fault made it forget all earlier ones; `nil` without such a fault.
    var knownTokens: SentTokens?
    var observers: [Int: AsyncStream<Void>.Continuation] = [:]
    var lastObserver = 0

    func isDown(_ lane: FaultLane) -> Bool { isAway || settings.isOffline(lane) }
  }

  private let state: Mutex<State>
  private let clock: any Clock<Duration>
  private let executor: (any TaskExecutor)?
  private let onBreak: (@Sendable ([FaultLane], RPCStatus) -> Void)?

  /// - Parameters:
  ///   - clock: the clock for flapping.
  ///   - executor: the executor for flapping; `nil` for the default one.
  ///   - onBreak: called with the kinds of calls that break, so that calls not registered here can be broken too.
  package init(
    seed: UInt64 = 0, clock: any Clock<Duration> = ContinuousClock(), on executor: (any TaskExecutor)? = nil,
    onBreak: (@Sendable ([FaultLane], RPCStatus) -> Void)? = nil
  ) {
    state = Mutex(State(randomness: seed))
    (self.clock, self.executor, self.onBreak) = (clock, executor, onBreak)
  }

  deinit { state.withLock { $0.flapping?.cancel() } }

  package var settings: FaultSettings { state.withLock { $0.settings } }

  /// The injected faults that have not happened yet: first the faults of writes, then of reads, then of listeners.
  package var waiting: [FaultEvent] { state.withLock { $0.waiting.events } }

  /// Yields a value after each change of the settings or of the waiting faults. Unread changes are merged.
  package func changes() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let id = state.withLock { state in
      state.lastObserver += 1
      state.observers[state.lastObserver] = continuation
      return state.lastObserver
    }
    continuation.onTermination = { [weak self] _ in _ = self?.state.withLock { $0.observers.removeValue(forKey: id) } }
    return stream
  }

  private func noteChange() {
    for observer in state.withLock({ Array($0.observers.values) }) { observer.yield() }
  }

  /// Changes the settings. Open calls break if the network goes down, or if it is no longer half open.
  package func update(_ change: (inout FaultSettings) -> Void) {
    breakCalls { state in
      let before = state.settings
      change(&state.settings)
      if before.flap != state.settings.flap { flap(&state) }
      let wasDown = FaultLane.allCases.filter { before.isOffline($0) }
      let heals = before.isHalfOpen && !state.settings.isHalfOpen
      return FaultLane.allCases.filter { heals || state.isDown($0) && !wasDown.contains($0) }
    }
    noteChange()
  }

  /// Replaces the settings. Calm settings also cancel the injected faults that have not happened yet.
  package func apply(_ settings: FaultSettings) {
    if settings.isCalm { withdrawFaults() }
    update { $0 = settings }
  }

  /// Applies one change.
  /// - Throws: `unimplemented` for a change that has no effect on a client.
  package func perform(_ change: FaultChange) throws(RPCStatus) {
    if let objection = change.objectionOfClients { throw RPCStatus(.unimplemented, objection) }
    if change == .calm { withdrawFaults() }
    if case .event(let event) = change { inject(event) } else { update { $0.apply(change) } }
  }

  /// Schedules a fault for the next matching call that has no fault yet. A restart happens immediately.
  package func inject(_ event: FaultEvent) {
    switch event {
    case .write(let fault): inject(fault)
    case .read(let code): changeWaiting { $0.reads.append(code) }
    case .listen(let code): changeWaiting { $0.listens.append(code) }
    case .restart(let withoutTokens):
      breakCalls(with: Self.restarted) { state in
        if withoutTokens { state.knownTokens = SentTokens() }
        return FaultLane.allCases
      }
    case .expireToken: break
    }
  }

  /// Schedules a fault for the next write that has no fault yet.
  package func inject(_ fault: WriteFault) { changeWaiting { $0.writes.append(fault) } }

  /// Cancels the injected faults that have not happened yet, and makes the backend remember all tokens again.
  package func withdrawFaults() {
    state.withLock { $0.knownTokens = nil }
    changeWaiting { $0 = WaitingFaults() }
  }

  private func changeWaiting(_ change: (inout WaitingFaults) -> Void) {
    state.withLock { change(&$0.waiting) }
    noteChange()
  }

  static let broken = RPCStatus(.unavailable, "The connection to the backend broke.")
  static let offline = RPCStatus(.unavailable, "The backend cannot be reached: the network is off.")
  static let restarted = RPCStatus(.unavailable, "The backend was restarted.")

  // MARK: Calls

  /// Registers a stream or call that can be broken.
  /// - Returns: the number of the call, and a stream that delivers the status when the call is broken.
  func open(_ lane: FaultLane) throws(RPCStatus) -> (call: Int, breaks: AsyncStream<RPCStatus>) {
    let (stream, continuation) = AsyncStream.makeStream(of: RPCStatus.self, bufferingPolicy: .bufferingOldest(1))
    let call = state.withLock { state -> Int? in
      if state.isDown(lane) { return nil }
      state.lastCall += 1
      state.calls[state.lastCall] = Call(lane: lane, breaks: continuation)
      return state.lastCall
    }
    guard let call else { throw Self.offline }
    return (call, stream)
  }

  func close(_ call: Int) { state.withLock { $0.calls.removeValue(forKey: call) }?.breaks.finish() }

  /// Whether a registered call is still open: neither broken by the injector nor closed.
  func isOpen(_ call: Int) -> Bool { state.withLock { $0.calls[call] != nil } }

  func fail(_ call: Int, with status: RPCStatus) { _ = state.withLock { $0.calls[call] }?.breaks.yield(status) }

  /// Makes a change, and breaks the calls of the kinds that `change` returns.
  private func breakCalls(with status: RPCStatus = broken, _ change: (inout State) -> [FaultLane]) {
    let (lanes, broken) = state.withLock { state -> ([FaultLane], [Call]) in
      let lanes = change(&state)
      // Broken calls deliver no more messages, not even one already in transit.
      let broken = state.calls.filter { lanes.contains($0.value.lane) }
      for number in broken.keys { state.calls[number] = nil }
      return (lanes, Array(broken.values))
    }
    for call in broken { call.breaks.yield(status) }
    if !lanes.isEmpty { onBreak?(lanes, status) }
  }

  /// Starts flapping, first with the network down. Stops flapping if the settings have no period.
  private func flap(_ state: inout State) {
    state.flapping?.cancel()
    state.flapping = nil
    state.isAway = state.settings.flap != nil
    guard let period = state.settings.flap else { return }
    state.flapping = Task(executorPreference: executor) { [weak self, clock] in
      while true {
        do { try await clock.sleep(for: period) } catch { return }
        self?.turn()
      }
    }
  }

  private func turn() {
    breakCalls { state in
      guard state.settings.flap != nil, !Task.isCancelled else { return [] }
      state.isAway.toggle()
      return state.isAway ? FaultLane.allCases : []
    }
  }

  // MARK: Faults of one call

  /// Whether calls of this kind cannot reach the backend now.
  package func isDown(_ lane: FaultLane) -> Bool { state.withLock { $0.isDown(lane) } }

  /// Whether the next write may be affected by a fault.
  package var mayHitWrites: Bool {
    state.withLock { state in
      !state.waiting.writes.isEmpty || state.settings.lostRequests > 0 || state.settings.lostAcknowledgements > 0
    }
  }

  /// The fault of the next write: the first injected one, otherwise a random one.
  package func takeWriteFault() -> WriteFault? {
    if let fault = take(\.writes) { return fault }
    return state.withLock { state in
      let (before, after) = (state.settings.lostRequests, state.settings.lostAcknowledgements)
      if before > 0, Self.draw(&state.randomness) * 100 < Double(before) { return .dropRequest }
      guard after > 0 else { return nil }
      return Self.draw(&state.randomness) * 100 < Double(after) ? .dropAcknowledgement : nil
    }
  }

  package func takeReadFault() -> StatusCode? { take(\.reads) }
  package func takeListenFault() -> StatusCode? { take(\.listens) }

  /// Removes and returns the first waiting fault of a kind.
  private func take<Fault: Sendable>(_ kind: WritableKeyPath<WaitingFaults, [Fault]>) -> Fault? {
    let fault = state.withLock { state -> Fault? in
      state.waiting[keyPath: kind].isEmpty ? nil : state.waiting[keyPath: kind].removeFirst()
    }
    if fault != nil { noteChange() }
    return fault
  }

  /// The delay of a message.
  /// - Parameters:
  ///   - isLate: whether the latency applies. The latency does not apply to a message that is sent together with
  ///     another one.
  ///   - bytes: the size of the message, computed only if the bandwidth is limited.
  ///   - isAnswer: whether the message is sent to the client, so that the client's reading rate applies.
  package func delay(
    _ lane: FaultLane, isLate: Bool = true, isAnswer: Bool = false, bytes: () -> Int
  ) -> Duration {
    let (delay, rates) = state.withLock { state -> (Duration, [Int]) in
      let settings = state.settings
      let (latency, most) = settings.delay(on: lane)
      let jitter = most == .zero || !isLate ? .zero : most * Self.draw(&state.randomness)
      let rates = [settings.bandwidth(on: lane), isAnswer ? settings.readingRate : nil]
      return (isLate ? latency + jitter : .zero, rates.compactMap(\.self))
    }
    guard let rate = rates.min() else { return delay }
    return delay + .microseconds(Int64(Double(bytes()) / Double(rate) * 1e6))
  }

  // MARK: Tokens

  /// Whether the backend has forgotten tokens that it sent.
  package var hasForgottenTokens: Bool { state.withLock { $0.knownTokens != nil } }

  /// Records tokens that the backend sends, if it has forgotten its earlier tokens.
  package func note(tokens: [[UInt8]]) {
    state.withLock { state in for token in tokens { state.knownTokens?.insert(token) } }
  }

  /// Records the tokens of changes that the backend sends, if it has forgotten its earlier tokens.
  func note(tokensOf changes: [WatchChange]) {
    state.withLock { state in
      if state.knownTokens == nil { return }
      for change in changes { if let token = change.token { state.knownTokens?.insert(token.bytes) } }
    }
  }

  package func isForgotten(_ token: [UInt8]) -> Bool {
    state.withLock { state in state.knownTokens.map { !$0.contains(token) } ?? false }
  }

  /// The next random number in 0..<1 (splitmix64).
  private static func draw(_ state: inout UInt64) -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((mixed ^ (mixed >> 31)) >> 11) / Double(1 << 53)
  }
}

/// The injected faults that have not happened yet, in their order.
private struct WaitingFaults {
  var writes: [WriteFault] = []
  var reads: [StatusCode] = []
  var listens: [StatusCode] = []

  var events: [FaultEvent] {
    writes.map { .write($0) } + reads.map { .read($0) } + listens.map { .listen($0) }
  }
}

/// The newest resume tokens that a backend has sent. An older token is treated as forgotten, so that its target starts
/// over.
struct SentTokens {
  private static let limit = 10_000

  private var tokens: Set<[UInt8]> = []
  private var order: [[UInt8]] = []

  mutating func insert(_ token: [UInt8]) {
    guard tokens.insert(token).inserted else { return }
    order.append(token)
    guard order.count > 2 * Self.limit else { return }
    for old in order.prefix(Self.limit) { tokens.remove(old) }
    order.removeFirst(Self.limit)
  }

  func contains(_ token: [UInt8]) -> Bool { tokens.contains(token) }
}

extension WatchChange {
  fileprivate var token: ResumeToken? {
    switch self {
    case .current(_, let token), .reset(_, let token), .token(_, let token), .snapshot(_, let token): token
    case .added, .removed, .document, .documentRemoved, .filter: nil
    }
  }
}
