// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel

extension FaultText {
  /// The words that `parse` reads as this change. Times are said in whole milliseconds.
  package static func words(of change: FaultChange) -> String {
    switch change {
    case .latency(let latency, let jitter, let lane):
      "latency \(word(latency))" + (jitter == .zero ? "" : " jitter \(word(jitter))") + word(lane)
    case .bandwidth(let rate, let lane): "bandwidth \(rate.map { "\($0)B" } ?? "off")" + word(lane)
    case .loss(let share, let before): "loss \(share == 0 ? "off" : "\(share)%") \(before ? "before" : "after")"
    case .down(let lane): "down" + (lane.map { " \($0.rawValue)" } ?? "")
    case .up: "up"
    case .silent: "silent"
    case .flap(let period): "flap \(period.map(word) ?? "off")"
    case .slowReader(let rate): "slow-reader \(rate.map { "\($0)B" } ?? "off")"
    case .event(let event): words(of: event)
    case .calm: "calm"
    }
  }

  private static func words(of event: FaultEvent) -> String {
    switch event {
    case .write(.dropAcknowledgement): "next write drop-ack"
    case .write(.dropRequest): "next write drop-request"
    case .write(.reject(let code)): "next write \(code.name)"
    case .read(let code): "next read \(code.name)"
    case .listen(let code): "next listen \(code.name)"
    case .restart(let withoutTokens): withoutTokens ? "restart without-tokens" : "restart"
    case .expireToken: "expire-token"
    }
  }

  private static func word(_ time: Duration) -> String {
    time == .zero ? "off" : "\(max(1, time.wholeMicroseconds / 1000))ms"
  }

  private static func word(_ lane: FaultLane?) -> String { lane.map { " on \($0.rawValue)" } ?? "" }
}

extension FaultSettings {
  /// The changes that make these settings of others, in the order in which they are to be made.
  package func changes(from before: FaultSettings) -> [FaultChange] {
    if self == before { return [] }
    if isCalm { return [.calm] }
    var changes: [FaultChange] = []
    var settings = before
    func make(_ change: FaultChange) {
      changes.append(change)
      settings.apply(change)
    }
    // Settings of one kind of calls go with those of all, and nothing but `up` plugs in.
    let goesUp =
      before.isOffline && !isOffline || before.isHalfOpen && !isHalfOpen
      || FaultLane.allCases.contains { before.lanes[$0]?.isOffline == true && lanes[$0]?.isOffline != true }
    if goesUp { make(.up) }
    func isGone<Setting>(_ setting: KeyPath<Lane, Setting?>) -> Bool {
      settings.lanes.contains { $0.value[keyPath: setting] != nil && lanes[$0.key]?[keyPath: setting] == nil }
    }
    if (latency, jitter) != (settings.latency, settings.jitter) || isGone(\.latency) {
      make(.latency(latency, jitter: jitter, on: nil))
    }
    if bandwidth != settings.bandwidth || isGone(\.bandwidth) { make(.bandwidth(bandwidth, on: nil)) }
    for lane in FaultLane.allCases {
      let (own, old) = (lanes[lane] ?? Lane(), settings.lanes[lane] ?? Lane())
      if (own.latency, own.jitter) != (old.latency, old.jitter) {
        make(.latency(own.latency ?? latency, jitter: own.jitter ?? jitter, on: lane))
      }
      if own.bandwidth != old.bandwidth { make(.bandwidth(own.bandwidth ?? bandwidth, on: lane)) }
      if own.isOffline == true, old.isOffline != true { make(.down(lane)) }
    }
    if lostRequests != settings.lostRequests { make(.loss(lostRequests, before: true)) }
    if lostAcknowledgements != settings.lostAcknowledgements { make(.loss(lostAcknowledgements, before: false)) }
    if isOffline, !settings.isOffline { make(.down(nil)) }
    if isHalfOpen, !settings.isHalfOpen { make(.silent) }
    if flap != settings.flap { make(.flap(flap)) }
    if readingRate != settings.readingRate { make(.slowReader(readingRate)) }
    return changes
  }
}
