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
