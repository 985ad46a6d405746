// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel

/// The outages in this session: their times, their results, the latencies of acknowledgements, and the time at which
/// the network is switched on automatically.
package struct Outages: Sendable {
  /// The maximum count of reconnections whose details are stored.
  private static let mostReconnections = 32
  private static let mostAnswers = 256

  private var history = OnlineHistory()
  /// Summaries of reconnections, newest last.
  private var reconnections: [Reconnection] = []
  private var hasCard = false
  /// The times when recent batches were acknowledged, each with the time since the batch was sent.
  private var answers: [BatchID: (at: Timestamp, after: Duration)] = [:]
  /// The time when the network is switched on automatically.
  package private(set) var networkReturn: Timestamp?

  package init() {}

  /// Records the state of the connection.
  /// - Returns: the outage that this state ends.
  package mutating func note(_ status: ClientStatus, after was: ClientStatus, at now: Timestamp) -> OnlineHistory
    .Outage?
  {
    // Switched on by hand, so the scheduled return is obsolete.
    if !was.isNetworkEnabled, status.isNetworkEnabled { networkReturn = nil }
    history.note(isOffline: status.isOffline, isKnown: status.onlineState != .unknown, at: now)
    return was.isOffline && !status.isOffline ? history.outages.last : nil
  }

  /// Shifts all times after the clock was set back.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    history.move(moved)
    if let last = reconnections.indices.last { reconnections[last].move(moved) }
    networkReturn = networkReturn.map(moved)
  }

  // MARK: The network's return

  /// - Parameter moment: the time at which the network is switched on again; `nil` for never.
  package mutating func scheduleReturn(at moment: Timestamp?) { networkReturn = moment }

  /// Returns `true` once, when it is time to switch the network on again.
  package mutating func takeReturn(at now: Timestamp) -> Bool {
    guard let networkReturn, networkReturn <= now else { return false }
    self.networkReturn = nil
    return true
  }

  // MARK: Answers

  /// - Parameter time: the time from sending the write to the response, if known.
  package mutating func noteAnswer(to batch: BatchID, after time: Duration?, at now: Timestamp) {
    if answers.count > Self.mostAnswers { answers.removeAll() }
    if let time { answers[batch] = (now, time) }
  }

  package func answer(to batch: BatchID) -> (at: Timestamp, after: Duration)? { answers[batch] }

  // MARK: Outcomes of outages

  package mutating func begin(_ reconnection: Reconnection) {
    reconnections.append(reconnection)
    if reconnections.count > Self.mostReconnections { reconnections.removeFirst() }
  }

  /// Changes the summary of the current reconnection.
  /// - Returns: the changed summary; `nil` before the first outage.
  package mutating func changeLast(_ change: (inout Reconnection) -> Void) -> Reconnection? {
    guard let last = reconnections.indices.last else { return nil }
    change(&reconnections[last])
    return reconnections[last]
  }

  /// Completes the summary of the current outage. If the outage began before this session, the summary is created
  /// first.
  /// - Parameter change: records the time when the server was reachable again.
  package mutating func end(_ outage: OnlineHistory.Outage, _ change: (inout Reconnection) -> Void) {
    if reconnections.last.map({ $0.end != nil }) ?? true { begin(Reconnection(from: outage.start)) }
    guard let last = reconnections.indices.last else { return }
    change(&reconnections[last])
    hasCard = reconnections[last].isWorthACard
  }

  // MARK: The card

  /// The reconnection whose summary is shown above the feed.
  package var card: Reconnection? { hasCard ? reconnections.last.flatMap { $0.end == nil ? nil : $0 } : nil }

  /// Hides the summary above the feed, because a key was pressed or its display time is over.
  package mutating func dismissCard() { hasCard = false }

  /// The time when the summary above the feed disappears, or when the feed row of an unfinished reconnection is added.
  package var nextChange: Timestamp? {
    guard let last = reconnections.last, last.end != nil, hasCard || last.row == nil else { return nil }
    return last.due
  }

  /// Hides the summary above the feed if its display time is over.
  package mutating func age(to now: Timestamp) {
    if let due = reconnections.last?.due, due <= now { hasCard = false }
  }

  /// The reconnection whose feed row must be added now. This is so when all its writes are acknowledged or rejected and
  /// all listeners have caught up, or when the display time is over.
  package func untold(at now: Timestamp) -> Reconnection? {
    guard let last = reconnections.last, last.row == nil, let due = last.due else { return nil }
    return last.isSettled || due <= now ? last : nil
  }

  /// The reconnection that a feed row summarizes.
  package func reconnection(of row: FeedRow) -> Reconnection? { reconnections.last { $0.row == row.id } }

  /// The length of each finished outage in seconds.
  package var lengths: [Int64] {
    history.outages.compactMap { outage in outage.end.map { $0.wholeSeconds(since: outage.start) } }
  }

  // MARK: The ruler

  /// The start of the current outage.
  package var start: Timestamp? { history.outages.last { $0.end == nil }?.start }

  /// The recent outages, oldest first.
  package var all: [OnlineHistory.Outage] { history.outages }

  /// The count of outages in the period that pane 3 shows.
  package func recentCount(at now: Timestamp) -> Int { history.recent(at: now).count }

  package func ruler(columns: Int, at now: Timestamp) -> [OnlineHistory.Part] {
    history.ruler(columns: columns, at: now)
  }
}

/// The times when the client went offline and came back online. Pane 3 shows them as a timeline.
package struct OnlineHistory: Sendable {
  package struct Outage: Hashable, Sendable {
    package var start: Timestamp
    /// The time when the outage ended; `nil` while it lasts.
    package var end: Timestamp?
  }

  /// The length of the timeline in seconds.
  static let span: Int64 = 600
  private static let limit = 64

  /// The state of the connection during a step of the timeline.
  package enum Part: Hashable, Sendable { case unknown, online, outage }

  package private(set) var outages: [Outage] = []
  /// The time when the state of the connection was first known.
  private var beginning: Timestamp?

  /// - Parameter isKnown: whether a connection has already succeeded or failed.
  package mutating func note(isOffline: Bool, isKnown: Bool, at now: Timestamp) {
    if beginning == nil, isOffline || isKnown { beginning = now }
    let isRunning = outages.last.map { $0.end == nil } ?? false
    if isOffline, !isRunning {
      outages.append(Outage(start: now))
      if outages.count > Self.limit { outages.removeFirst() }
    } else if !isOffline, isRunning {
      outages[outages.count - 1].end = now
    }
  }

  /// Shifts all times after the clock was set back.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    beginning = beginning.map(moved)
    outages = outages.map { Outage(start: moved($0.start), end: $0.end.map(moved)) }
  }

  /// The outages in the period of the timeline.
  func recent(at now: Timestamp) -> [Outage] {
    outages.filter { ($0.end ?? now) > now.advanced(seconds: -Self.span) }
  }

  /// The possible lengths of a step of the timeline, in seconds.
  private static let steps: [Int64] = [10, 15, 20, 30, 40, 60, 75, 120, 300]

  /// The state in each step of the timeline, oldest first. A step that overlaps an outage counts as an outage. Steps
  /// start at whole multiples of their length, so earlier steps move but never change.
  /// - Parameter columns: the maximum count of steps.
  package func ruler(columns: Int, at now: Timestamp) -> [Part] {
    guard columns > 0 else { return [] }
    let step = Self.steps.first { Self.span <= $0 * Int64(columns) } ?? Self.span
    let count = Self.span / step
    let last = now.seconds / step
    return (0..<count).map { index in
      let from = Timestamp(seconds: (last - count + 1 + index) * step)
      let to = from.advanced(seconds: step)
      guard let beginning, beginning < to else { return .unknown }
      return outages.contains { $0.start < to && ($0.end ?? to) > from && $0.start <= now } ? .outage : .online
    }
  }
}
