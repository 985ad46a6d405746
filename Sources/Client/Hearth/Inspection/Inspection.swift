// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import Dispatch
package import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreSync
import Glibc
import LocalSockets
import SerialExecutors

/// Makes one client visible to watchers: programs of the same user, such as `hearth attach`. Watchers that request
/// control can also control the client.
///
/// This actor has its own queue, so it builds and sends events concurrently with the engine. The engine only puts
/// snapshots into a bounded queue (`InspectedEvents`), and only while a watcher is connected. The client never waits
/// for a watcher. If a watcher does not read a snapshot in time, or if the snapshot would exceed the budget of
/// processor time (`InspectionBudget`), it is only counted. The watcher receives the count.
package actor Inspection {
  /// The folder, greeting and faults for the inspection of a client.
  package struct Plan: Sendable {
    package var folder: InspectionFolder
    package var greeting: InspectionGreeting
    /// Injects faults between the client and its backend.
    package var faults: FaultInjector
    /// The `restingShare` of the `InspectionBudget`.
    package var restingShare: Int? = InspectionBudget.usualRestingShare

    package init(folder: InspectionFolder, greeting: InspectionGreeting, faults: FaultInjector) {
      self.folder = folder
      self.greeting = greeting
      self.faults = faults
    }
  }

  private nonisolated let executor = QueueExecutor(label: "hearth.inspection")
  package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private let client: any InspectedClient
  private let greeting: InspectionGreeting
  private let socket: InspectionSocket
  private var listening: (any DispatchSourceRead)?
  var watchers: [Int: Watcher] = [:]
  private var lastWatcher = 0
  private var news: (any InspectedEvents)?
  var budget: InspectionBudget
  private var status: Task<Void, Never>?
  private var faults: Task<Void, Never>?
  /// Whether `catchUp()` is already scheduled.
  private var isWaitingForTime = false
  private var isWaitingForLists = false
  /// The number of snapshots that were not sent to any watcher.
  private var missed = 0
  /// The last status, which new watchers receive; `nil` before the first status.
  private var lastStatus: ClientStatus?
  var changes = StatusChanges(knowsPast: true)
  private var omissions = StatusOmissions()
  var isNetworkEnabled = true
  private var isOver = false

  /// The interval during which events are collected before they are sent together.
  private static let pace = DispatchTimeInterval.milliseconds(50)
  private static let slowPace = DispatchTimeInterval.milliseconds(500)
  private static let mostWatchers = 16
  /// The limits of one reported snapshot: the maximum number of changes, and the maximum total size of the changed
  /// documents in bytes.
  static let mostChanges = 20
  static let mostBytes = 64 << 10
  private static let queueEnds = 100
  private static let keptForSnapshots = Duration.milliseconds(10)

  /// Reserves the socket for watchers, which can connect after `start`.
  /// - Throws: a one-line description of why the client cannot be watched.
  package init(
    _ client: any InspectedClient, as greeting: InspectionGreeting, in folder: InspectionFolder,
    restingShare: Int? = InspectionBudget.usualRestingShare
  ) throws(InspectionFolder.Failure) {
    (self.client, self.greeting) = (client, greeting)
    budget = InspectionBudget(restingShare: restingShare)
    socket = try InspectionSocket(in: folder)
  }

  /// The address by which a watcher finds the client.
  package nonisolated var address: InspectionAddress { socket.address }

  package nonisolated func start() { executor.queue.async { self.assumeIsolated { $0.listen() } } }

  private func listen() {
    guard !isOver else { return }
    let descriptor = socket.descriptor
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: executor.queue)
    source.setEventHandler { [weak self] in self?.assumeIsolated { $0.acceptAll() } }
    source.setCancelHandler { close(descriptor) }
    source.activate()
    listening = source
  }

  /// Notifies all watchers that the client is closed, and ends their connections.
  /// - Parameter reason: the reason why the client can no longer be watched; `nil` if the client was closed.
  package func end(because reason: String? = nil) {
    guard !isOver else { return }
    isOver = true
    socket.remove()
    if let listening { listening.cancel() } else { close(socket.descriptor) }
    listening = nil
    tell(reason.map(ClientEvent.attachmentEnded) ?? .closed)
    for id in watchers.keys { drop(id) }
  }

  // MARK: Watchers

  private func acceptAll() {
    while true {
      let descriptor = accept(socket.descriptor, nil, nil)
      if descriptor < 0 { return }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      guard let peer = SocketPeer(of: descriptor), peer.isTrusted, watchers.count < Self.mostWatchers else {
        close(descriptor)
        continue
      }
      lastWatcher += 1
      let id = lastWatcher
      watchers[id] = Watcher(descriptor, on: executor.queue) { [weak self] in
        self?.assumeIsolated { $0.read(id) }
      } writable: { [weak self] in
        self?.assumeIsolated { $0.write(id) }
      }
      Task { await greet(id) }
    }
  }

  private func greet(_ id: Int) async {
    var greeting = greeting
    greeting.listeners = await client.listenerStates().count
    greeting.watchers = watchers.values.count { $0.word != nil }
    send(greeting, to: id)
  }

  private func read(_ id: Int) {
    guard let bytes = watchers[id]?.read() else { return drop(id) }
    let lines = watchers[id]?.received.take(bytes[...]) ?? []
    for line in lines {
      guard watchers[id] != nil else { return }
      if watchers[id]?.word == nil { begin(id, line) } else { receive(line, from: id) }
    }
    if watchers[id]?.received.count ?? 0 > InspectionLine.longestRequest {
      refuse(id, "The request is longer than \(InspectionLine.longestRequest) bytes.")
    }
  }

  private func begin(_ id: Int, _ line: [UInt8]) {
    let version = InspectionGreeting.currentVersion
    // The reply quotes the line, which is more useful to the watcher than the decoder's error.
    guard let word = try? InspectionLine.value(InspectionWord.self, of: line) else {
      return refuse(id, "Unknown request: \(String(decoding: line.prefix(80), as: UTF8.self))")
    }
    guard word.hearth == version else {
      return refuse(
        id,
        "\(greeting.name) reports its events in format \(version), not \(word.hearth). Use the same version of "
          + "hearth.")
    }
    watchers[id]?.word = word
    if let notice = client.storageNotice { send(ClientEvent.storage(notice), to: id) }
    watch()
    send(client.faultState, to: id)
    if watchers.values.count(where: { $0.word != nil }) > 1 {
      sendStatus(to: id)
      Task { for listener in await client.listenerStates() { send(ClientEvent.listenerStarted(listener), to: id) } }
    }
  }

  private func receive(_ line: [UInt8], from id: Int) {
    // The reply quotes the line, which is more useful to the watcher than the decoder's error.
    guard let request = try? InspectionLine.value(ClientRequest.self, of: line) else {
      return refuse(id, "Unknown request: \(String(decoding: line.prefix(80), as: UTF8.self))")
    }
    guard let watcher = watchers[id], let word = watcher.word else { return }
    if request.isControl, !word.control {
      let status = RPCStatus(.permissionDenied, "hearth attach is read-only without --control.")
      return send(request.failed(status), to: id)
    }
    guard watcher.requests < Watcher.mostRequests, watcher.hasRoom else {
      return send(request.failed(RPCStatus(.resourceExhausted, "Too many requests at once.")), to: id)
    }
    watchers[id]?.requests += 1
    Task {
      let event: ClientEvent?
      do throws(RPCStatus) { event = try await answer(request, of: id) } catch { event = request.failed(error) }
      watchers[id]?.requests -= 1
      if let event { send(event, to: id) }
    }
  }

  private func answer(_ request: ClientRequest, of watcher: Int) async throws(RPCStatus) -> ClientEvent? {
    try request.check()
    switch request {
    case .setNetwork(true): watchers[watcher]?.hasSwitchedOff = false
    // Not recorded if the program itself has disabled the network: then it remains disabled when the watcher
    // disconnects.
    case .setNetwork(false): if isNetworkEnabled { watchers[watcher]?.hasSwitchedOff = true }
    case .resend(let batch, as: nil): changes.settledRejected.insert(batch)
    case .dropRejected(let batches): changes.settledRejected.formUnion(batches)
    case .setFaults(let settings): watchers[watcher]?.hasSetFaults = !settings.isCalm
    case .causeFault: watchers[watcher]?.hasSetFaults = true
    default: break
    }
    return try await client.answer(request)
  }

  private func refuse(_ id: Int, _ reason: String) {
    send(ClientEvent.attachmentEnded(reason), to: id)
    drop(id)
  }

  private func write(_ id: Int) {
    guard watchers[id]?.sendWaiting() == true else { return drop(id) }
    if watchers[id]?.isEmpty == true, watchers[id]?.isBehind == true { waitForTime() }
  }

  /// Closes a watcher's connection, and undoes the faults and the network setting that the watcher requested.
  private func drop(_ id: Int) {
    guard var watcher = watchers.removeValue(forKey: id) else { return }
    watcher.end()
    var left: [ClientRequest] = []
    if watcher.hasSetFaults, !watchers.values.contains(where: \.hasSetFaults) {
      left.append(.setFaults(FaultSettings()))
    }
    if watcher.hasSwitchedOff, !isOver { left.append(.setNetwork(enabled: true)) }
    // Errors are ignored: both requests have no reply, and a client that has ended needs neither.
    if !left.isEmpty { Task { [left] in for request in left { _ = try? await client.answer(request) } } }
    if !watchers.values.contains(where: { $0.word != nil }) { rest() }
  }

  // MARK: Reports

  /// Starts sending all events to watchers, beginning with the current listeners and the status.
  private func watch() {
    if news == nil {
      let executor = executor
      news = client.news { [weak self] in
        executor.queue.asyncAfter(deadline: .now() + Self.pace) { [weak self] in
          self?.assumeIsolated { $0.tellNews() }
        }
      }
    }
    if status == nil { status = Task { await self.followStatus() } }
    if faults == nil {
      // Follows the changes from here on, so that none falls between a greeting and the task's start.
      let changes = client.faultChanges()
      faults = Task { for await _ in changes { tell(client.faultState) } }
    }
  }

  /// Stops following the client, so that inspection costs nothing while no watcher is connected.
  private func rest() {
    news?.end()
    news = nil
    status?.cancel()
    faults?.cancel()
    (status, faults, lastStatus, missed) = (nil, nil, nil, 0)
    (changes, omissions) = (StatusChanges(knowsPast: true), StatusOmissions())
  }

  private func tellNews() {
    guard let news else { return }
    let (items, uncounted) = news.take()
    missed += uncounted
    for item in items {
      switch item {
      case .event(let event): tell(event)
      case .snapshot(let snapshot): if budget.hasTime() { tell(.snapshot(snapshot())) } else { missed += 1 }
      }
    }
    if missed > 0 {
      news.setCounting(true)
      waitForTime()
    }
  }

  /// Schedules a report of the number of missed snapshots. The report is sent when the budget allows it.
  private func waitForTime() {
    if isWaitingForTime { return }
    isWaitingForTime = true
    executor.queue.asyncAfter(deadline: .now() + Self.slowPace) { [weak self] in
      self?.assumeIsolated { inspection in
        inspection.isWaitingForTime = false
        Task { await inspection.catchUp() }
      }
    }
  }

  private func catchUp() async {
    guard let news else { return }
    guard budget.hasTime() else { return waitForTime() }
    let listeners = await client.listenerStates()
    guard news === self.news else { return }
    let (items, uncounted) = news.take()
    missed += uncounted
    for item in items { if case .event(let event) = item { tell(event) } else { missed += 1 } }
    news.setCounting(false)
    let results = Dictionary(uniqueKeysWithValues: listeners.map { (ListenerTag($0.id), $0.result) })
    let everybody = missed
    missed = 0
    for id in watchers.keys {
      guard let watcher = watchers[id], watcher.word != nil, watcher.isEmpty else {
        watchers[id]?.missed += everybody
        if everybody > 0 { watchers[id]?.isBehind = true }
        continue
      }
      if watcher.isBehind {
        for listener in listeners { send(ClientEvent.listenerStarted(listener), to: id) }
        sendStatus(to: id)
      }
      if watcher.missedOutcomes > 0 { send(ClientEvent.outcomesMissed(watcher.missedOutcomes), to: id) }
      let count = everybody + watcher.missed
      watchers[id]?.missed = 0
      watchers[id]?.missedOutcomes = 0
      watchers[id]?.isBehind = false
      guard count > 0 || watcher.isBehind else { continue }
      budget.pay { send(ClientEvent.snapshotsMissed(count, results), to: id) }
    }
  }

  private func followStatus() async {
    for await status in client.status(queueEnds: Self.queueEnds) {
      isNetworkEnabled = status.isNetworkEnabled
      let before = budget
      tellChanges(in: status)
      // Charges the same cost again for the engine, whose work for a status takes about as long as sending it.
      budget.charge(before.saved - budget.saved)
      repeat {
        do { try await client.clock.sleep(for: .milliseconds(100)) } catch { return }
        // Snapshots have priority, because an omitted status loses less than an omitted snapshot.
      } while !budget.hasTime(beyond: Self.keptForSnapshots)
    }
  }

  private func tellChanges(in status: ClientStatus) {
    lastStatus = status
    for outcome in changes.outcomes(of: status) { tell(outcome.event) }
    if changes.missedOutcomes > 0 { tell(.outcomesMissed(changes.missedOutcomes)) }
    let omitted = omissions.next(status, at: .now)
    for event in changes.changes(in: status, omitting: omitted) { tell(event) }
    guard !omitted.isEmpty, !isWaitingForLists else { return }
    // Sends the omitted lists later, even if the status does not change again.
    isWaitingForLists = true
    executor.queue.asyncAfter(deadline: .now() + StatusOmissions.longestPace) { [weak self] in
      self?.assumeIsolated { $0.tellOmittedLists() }
    }
  }

  private func tellOmittedLists() {
    isWaitingForLists = false
    guard status != nil, let lastStatus else { return }
    for event in changes.changes(in: lastStatus) { tell(event) }
  }

  /// Sends a watcher the current status with all of its lists.
  private func sendStatus(to id: Int) {
    guard let lastStatus else { return }
    var all = StatusChanges(knowsPast: true)
    for event in all.changes(in: lastStatus) { send(event, to: id) }
  }

  /// Sends an event to all watchers. If a watcher's output queue is full, the event is counted as missed.
  private func tell(_ event: ClientEvent) {
    budget.pay {
      let bytes = InspectionLine.bytes(event)
      for (id, watcher) in watchers where watcher.word != nil {
        if watcher.hasRoom {
          if watchers[id]?.send(bytes) == false { leave(id) }
        } else {
          watchers[id]?.miss(event)
        }
      }
    }
  }

  private func send(_ value: some JSONFormed, to id: Int) {
    guard watchers[id] != nil else { return }
    if watchers[id]?.send(InspectionLine.bytes(value)) == false { leave(id) }
  }

  /// Schedules a call of `drop` for a watcher after the current step.
  private func leave(_ id: Int) { executor.queue.async { self.assumeIsolated { $0.drop(id) } } }
}
