// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel

/// The outages of this session: their times, their outcomes, the answer times, and the scheduled return of the network.
package struct Outages: Sendable {
  /// The count of reconnections whose details are stored.
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

  /// - Parameter moment: the time to switch the network on; `nil` for never.
  package mutating func scheduleReturn(at moment: Timestamp?) { networkReturn = moment }

  /// Returns `true` once, when the network must be switched on again.
  package mutating func takeReturn(at now: Timestamp) -> Bool {
    guard let networkReturn, networkReturn <= now else { return false }
    self.networkReturn = nil
    return true
  }

  // MARK: Answers

  /// - Parameter time: the time to the answer, if known.
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

  /// Ends the summary of the current outage. Starts it first if the outage began before this session.
  /// - Parameter change: records the time when the server was back.
  package mutating func end(_ outage: OnlineHistory.Outage, _ change: (inout Reconnection) -> Void) {
    if reconnections.last.map({ $0.end != nil }) ?? true { begin(Reconnection(from: outage.start)) }
    guard let last = reconnections.indices.last else { return }
    change(&reconnections[last])
    hasCard = reconnections[last].isWorthACard
  }

  // MARK: The card

  /// The reconnection that is shown above the feed.
  package var card: Reconnection? { hasCard ? reconnections.last.flatMap { $0.end == nil ? nil : $0 } : nil }

  /// Dismisses the card, because a key was pressed or its display time is over.
  package mutating func dismissCard() { hasCard = false }

  /// The time when the card is dismissed or the row of an unfinished reconnection is added.
  package var nextChange: Timestamp? {
    guard let last = reconnections.last, last.end != nil, hasCard || last.row == nil else { return nil }
    return last.due
  }

  /// Dismisses the card if its time is over.
  package mutating func age(to now: Timestamp) {
    if let due = reconnections.last?.due, due <= now { hasCard = false }
  }

  /// The reconnection whose feed row must be added now: all writes are answered and all listeners have caught up, or
  /// the card's time is over.
  package func untold(at now: Timestamp) -> Reconnection? {
    guard let last = reconnections.last, last.row == nil, let due = last.due else { return nil }
    return last.isSettled || due <= now ? last : nil
  }

  /// The reconnection that a row of the feed shows.
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

  /// The count of outages on the ruler.
  package func recentCount(at now: Timestamp) -> Int { history.recent(at: now).count }

  package func ruler(columns: Int, at now: Timestamp) -> [OnlineHistory.Part] {
    history.ruler(columns: columns, at: now)
  }
}

/// The times when the client went offline and came back: the outage ruler of pane 3.
package struct OnlineHistory: Sendable {
  package struct Outage: Hashable, Sendable {
    package var start: Timestamp
    /// The end; `nil` while the outage lasts.
    package var end: Timestamp?
  }

  /// The ruler's length in seconds.
  static let span: Int64 = 600
  private static let limit = 64

  /// The state of the connection in a part of the span.
  package enum Part: Hashable, Sendable { case unknown, online, outage }

  package private(set) var outages: [Outage] = []
  /// The time when the state of the connection was first known.
  private var beginning: Timestamp?

  /// - Parameter isKnown: whether the connection has been seen to work or to fail.
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

  /// The outages on the ruler.
  func recent(at now: Timestamp) -> [Outage] {
    outages.filter { ($0.end ?? now) > now.advanced(seconds: -Self.span) }
  }

  /// The possible lengths of a part of the ruler, in seconds.
  private static let steps: [Int64] = [10, 15, 20, 30, 40, 60, 75, 120, 300]

  /// The state in each part of the span, oldest first. A part that an outage touches counts as an outage. Parts start
  /// at whole multiples of their length, so past parts move but never change.
  /// - Parameter columns: the maximum count of parts.
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
