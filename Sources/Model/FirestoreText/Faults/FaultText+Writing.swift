// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel

extension FaultSettings {
  /// The settings that are on, in a few words.
  package var summary: String {
    var words: [String] = []
    words += Self.delays("", latency, jitter)
    if lostAcknowledgements > 0 { words.append("\(lostAcknowledgements) % of acks lost") }
    if lostRequests > 0 { words.append("\(lostRequests) % of writes lost") }
    if let bandwidth { words.append(FaultText.rate(bandwidth)) }
    if let readingRate { words.append("read at \(FaultText.rate(readingRate))") }
    if isOffline { words.append("unplugged") }
    if isHalfOpen { words.append("silent") }
    if let flap { words.append("flaps each \(DurationText.text(flap))") }
    for lane in FaultLane.allCases {
      guard let own = lanes[lane] else { continue }
      words += Self.delays("\(lane.rawValue) ", own.latency, own.jitter)
      if let bandwidth = own.bandwidth { words.append("\(lane.rawValue) \(FaultText.rate(bandwidth))") }
      if own.isOffline == true { words.append("\(lane.rawValue) unplugged") }
    }
    return words.joined(separator: ", ")
  }

  private static func delays(_ prefix: String, _ latency: Duration?, _ jitter: Duration?) -> [String] {
    [(latency, "latency"), (jitter, "jitter")].compactMap { delay, name in
      guard let delay, delay != .zero || !prefix.isEmpty && name == "latency" else { return nil }
      return "\(prefix)\(name) +\(delay.wholeMicroseconds / 1000) ms"
    }
  }
}

extension FaultText {
  /// The account of a change, for people: what is so when it has been made.
  package static func account(of change: FaultChange) -> String {
    switch change {
    case .event(.write(.dropAcknowledgement)): "the next write is applied, and its answer lost"
    case .event(.write(.dropRequest)): "the next write is lost before the backend sees it"
    case .event(.write(.reject(let code))): "the next write is refused: \(code.name)"
    case .event(.read(let code)): "the next read is refused: \(code.name)"
    case .event(.listen(let code)): "the next listener is refused: \(code.name)"
    case .event(.restart(withoutTokens: true)): "all streams end, and listeners begin anew"
    case .event(.restart(withoutTokens: false)): "all streams end"
    case .event(.expireToken): "calls are unauthenticated until there is another token or connection"
    case .calm: "no faults"
    default: settings(of: change)
    }
  }

  private static func settings(of change: FaultChange) -> String {
    var settings = FaultSettings()
    settings.apply(change)
    if !settings.isCalm { return settings.summary }
    return switch change {
    case .latency: "no added latency"
    case .bandwidth: "no bound of the bandwidth"
    case .loss(_, before: true): "no write is lost"
    case .loss(_, before: false): "no answer is lost"
    case .flap: "it comes and goes no longer"
    case .slowReader: "the client reads as it can"
    default: "reachable again"
    }
  }

  /// `20 kB/s`, `800 B/s`, `1.5 MB/s`.
  static func rate(_ bytes: Int) -> String {
    for (unit, size) in [("MB", 1_000_000), ("kB", 1000)] where bytes >= size {
      if bytes % size == 0 { return "\(bytes / size) \(unit)/s" }
      return "\((Double(bytes) / Double(size) * 10).rounded() / 10) \(unit)/s"
    }
    return "\(bytes) B/s"
  }
}
