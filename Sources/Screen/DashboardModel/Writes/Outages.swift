// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel

/// The outages of this session: when they were, what came of each, how long answers took, and when the network comes
/// back by itself.
package struct Outages: Sendable {
  /// So many are kept for their details.
  private static let mostReconnections = 32
  private static let mostAnswers = 256

  private var history = OnlineHistory()
  /// Accounts of what came after outages, newest last.
  private var reconnections: [Reconnection] = []
  private var hasCard = false
  /// The moments at which batches of late were acknowledged, and how long after they were sent.
  private var answers: [BatchID: (at: Timestamp, after: Duration)] = [:]
  /// The moment at which the network is switched on again by itself.
  package private(set) var networkReturn: Timestamp?

  package init() {}

  /// Takes what is known of the connection now.
  /// - Returns: the outage that this ends.
  package mutating func note(_ status: ClientStatus, after was: ClientStatus, at now: Timestamp) -> OnlineHistory
    .Outage?
  {
    // Switched on by hand: nothing is left to be done by itself.
    if !was.isNetworkEnabled, status.isNetworkEnabled { networkReturn = nil }
    history.note(isOffline: status.isOffline, isKnown: status.onlineState != .unknown, at: now)
    return was.isOffline && !status.isOffline ? history.outages.last : nil
  }

  /// Moves all times, after the clock was set back.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    history.move(moved)
    if let last = reconnections.indices.last { reconnections[last].move(moved) }
    networkReturn = networkReturn.map(moved)
  }

  // MARK: The network's return

  /// - Parameter moment: when the network is to come back; `nil` for not by itself.
  package mutating func scheduleReturn(at moment: Timestamp?) { networkReturn = moment }

  /// Whether the network's return is due, which is said once.
  package mutating func takeReturn(at now: Timestamp) -> Bool {
    guard let networkReturn, networkReturn <= now else { return false }
    self.networkReturn = nil
    return true
  }

  // MARK: Answers

  /// - Parameter time: how long the answer took, where that is known.
  package mutating func noteAnswer(to batch: BatchID, after time: Duration?, at now: Timestamp) {
    if answers.count > Self.mostAnswers { answers.removeAll() }
    if let time { answers[batch] = (now, time) }
  }

  package func answer(to batch: BatchID) -> (at: Timestamp, after: Duration)? { answers[batch] }

  // MARK: What came of outages

  package mutating func begin(_ reconnection: Reconnection) {
    reconnections.append(reconnection)
    if reconnections.count > Self.mostReconnections { reconnections.removeFirst() }
  }

  /// Changes the account that goes on.
  /// - Returns: the account as it is now; `nil` where there was no outage yet.
  package mutating func changeLast(_ change: (inout Reconnection) -> Void) -> Reconnection? {
    guard let last = reconnections.indices.last else { return nil }
    change(&reconnections[last])
    return reconnections[last]
  }

  /// Ends the account that goes on with the outage; one that ends without having begun here is begun too.
  /// - Parameter change: takes the account to the moment at which the server was back.
  package mutating func end(_ outage: OnlineHistory.Outage, _ change: (inout Reconnection) -> Void) {
    if reconnections.last.map({ $0.end != nil }) ?? true { begin(Reconnection(from: outage.start)) }
    guard let last = reconnections.indices.last else { return }
    change(&reconnections[last])
    hasCard = reconnections[last].isWorthACard
  }

  // MARK: The card

  /// The reconnection that is announced above the feed.
  package var card: Reconnection? { hasCard ? reconnections.last.flatMap { $0.end == nil ? nil : $0 } : nil }

  /// Takes the card away, on a key or when its time is over.
  package mutating func dismissCard() { hasCard = false }

  /// The moment at which the card goes, or the row of a reconnection comes that goes on.
  package var nextChange: Timestamp? {
    guard let last = reconnections.last, last.end != nil, hasCard || last.row == nil else { return nil }
    return last.due
  }

  /// Lets time pass for the card.
  package mutating func age(to now: Timestamp) {
    if let due = reconnections.last?.due, due <= now { hasCard = false }
  }

  /// The reconnection whose row is to be told now: all is answered, or its time is over.
  package func untold(at now: Timestamp) -> Reconnection? {
    guard let last = reconnections.last, last.row == nil, let due = last.due else { return nil }
    return last.isSettled || due <= now ? last : nil
  }

  /// The reconnection that a row of the feed shows.
  package func reconnection(of row: FeedRow) -> Reconnection? { reconnections.last { $0.row == row.id } }

  /// The seconds that each outage took which is over.
  package var lengths: [Int64] {
    history.outages.compactMap { outage in outage.end.map { $0.wholeSeconds(since: outage.start) } }
  }

  // MARK: The ruler

  /// The beginning of the outage that still lasts.
  package var start: Timestamp? { history.outages.last { $0.end == nil }?.start }

  /// The outages of late, oldest first.
  package var all: [OnlineHistory.Outage] { history.outages }

  /// The number of outages that the ruler shows.
  package func recentCount(at now: Timestamp) -> Int { history.recent(at: now).count }

  package func ruler(columns: Int, at now: Timestamp) -> [OnlineHistory.Part] {
    history.ruler(columns: columns, at: now)
  }
}

/// The times at which the client went offline and came back: the outage ruler of pane 3.
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
  /// The time from which the state is known.
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

  /// Moves all times, after the clock was set back.
  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    beginning = beginning.map(moved)
    outages = outages.map { Outage(start: moved($0.start), end: $0.end.map(moved)) }
  }

  /// Outages that the ruler shows.
  func recent(at now: Timestamp) -> [Outage] {
    outages.filter { ($0.end ?? now) > now.advanced(seconds: -Self.span) }
  }

  /// The possible lengths of a part of the ruler, in seconds.
  private static let steps: [Int64] = [10, 15, 20, 30, 40, 60, 75, 120, 300]

  /// The state in each part of the span, oldest first; an outage that touches a part counts. Parts begin at whole
  /// multiples of their length, so that past parts move and never change.
  /// - Parameter columns: the largest number of parts.
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
