// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel
import Spelling

/// The text form of faults between a client and its backend. The palette, scenarios, options and the proxy all use this
/// form:
///
///     latency 200ms jitter 100ms on watch
///     bandwidth 20kB
///     loss 10% before
///     next write drop-ack
///     down watch
///     calm
package enum FaultText {
  /// The first words of the faults, each with its arguments. The argument `off` ends a fault.
  package static let forms: [(word: String, rest: String)] = [
    ("latency", "TIME [jitter TIME] [on watch|write|read]"), ("bandwidth", "BYTES [on watch|write|read]"),
    ("loss", "PERCENT [before|after]"), ("next", "write drop-ack|drop-request|CODE, or read|listen CODE"),
    ("down", "[watch|write|read]"), ("up", ""), ("silent", ""), ("flap", "TIME"), ("slow-reader", "BYTES"),
    ("restart", "[without-tokens]"), ("expire-token", ""), ("calm", ""),
  ]

  /// The maximum duration for delays and flap periods.
  package static let longestTime = Duration.seconds(3600)
  /// The maximum bandwidth of a stream, in bytes per second.
  package static let mostBytes = 1_000_000_000

  /// - Throws: `TextError` with the column of the invalid word.
  package static func parse(_ text: String) throws(TextError) -> FaultChange {
    var words = FaultWords(text)
    guard let first = words.next() else {
      throw TextError(column: 1, "Expected a fault: \(forms.map(\.word).joined(separator: ", ")).")
    }
    let change = try parse(first, &words)
    if let more = words.next() { throw TextError(column: more.column, "Expected nothing after this: \(more.text).") }
    return change
  }

  private static func parse(_ first: FaultWords.Word, _ words: inout FaultWords) throws(TextError) -> FaultChange {
    switch first.text {
    case "latency": return try latency(&words)
    case "bandwidth":
      let rate = try words.orOff("a rate, such as 20kB, or off") { word throws(TextError) in try bytes(word) }
      return .bandwidth(rate, on: try lane(after: "on", &words))
    case "loss": return try loss(&words)
    case "next":
      let kinds = ["write", "read", "listen"]
      return .event(try event(of: try words.required("write, read or listen", among: kinds), &words))
    case "write", "read", "listen": return .event(try event(of: first.text, &words))
    case "down":
      guard let word = words.next() else { return .down(nil) }
      return .down(try lane(word))
    case "up": return .up
    case "silent": return .silent
    case "flap":
      return .flap(
        try words.orOff("a time, such as 5s, or off") { word throws(TextError) in try time(word) })
    case "slow-reader":
      return .slowReader(
        try words.orOff("a rate, such as 10kB, or off") { word throws(TextError) in try bytes(word) })
    case "restart":
      guard let word = words.next() else { return .event(.restart(withoutTokens: false)) }
      if word.text != "without-tokens" { throw word.unexpected("without-tokens, or nothing", ["without-tokens"]) }
      return .event(.restart(withoutTokens: true))
    case "expire-token": return .event(.expireToken)
    case "calm": return .calm
    default:
      throw first.unexpected("a fault: \(forms.map(\.word).joined(separator: ", "))", forms.map(\.word) + ["write"])
    }
  }

  // MARK: Single faults

  private static func latency(_ words: inout FaultWords) throws(TextError) -> FaultChange {
    let latency = try words.orOff("a time, such as 200ms, or off") { word throws(TextError) in try time(word) }
    var jitter = Duration.zero
    if words.take("jitter") {
      jitter = try words.orOff("a time, such as 100ms") { word throws(TextError) in try time(word) } ?? .zero
    }
    return .latency(latency ?? .zero, jitter: jitter, on: try lane(after: "on", &words))
  }

  private static func loss(_ words: inout FaultWords) throws(TextError) -> FaultChange {
    let share = try words.orOff("a percentage of the writes, such as 10%, or off") { word throws(TextError) in
      guard word.text.hasSuffix("%"), let share = Int(word.text.dropLast()), (0...100).contains(share) else {
        throw TextError(column: word.column, "\(word.text) is not a percentage. Expected 0% to 100%.")
      }
      return share
    }
    guard let word = words.next() else { return .loss(share ?? 0, before: false) }
    let places = ["before", "after"]
    guard places.contains(word.text) else { throw word.unexpected("before or after", places) }
    return .loss(share ?? 0, before: word.text == "before")
  }

  private static func event(of kind: String, _ words: inout FaultWords) throws(TextError) -> FaultEvent {
    let others = kind == "write" ? ["drop-ack", "drop-request"] : []
    let what = (others + ["a code such as unavailable"]).joined(separator: ", ")
    guard let word = words.next() else { throw words.missing(what) }
    if kind == "write", word.text == "drop-ack" { return .write(.dropAcknowledgement) }
    if kind == "write", word.text == "drop-request" { return .write(.dropRequest) }
    let codes = StatusCode.allCases.filter { $0 != .ok }
    // gRPC's spelling is accepted too.
    let name = word.text.lowercased().replacing("_", with: "-")
    guard let code = codes.first(where: { $0.name == name }) else {
      throw word.unexpected(what, others + codes.map(\.name))
    }
    return kind == "write" ? .write(.reject(code)) : kind == "read" ? .read(code) : .listen(code)
  }

  // MARK: Parts

  private static func lane(after preposition: String, _ words: inout FaultWords) throws(TextError) -> FaultLane? {
    guard words.take(preposition) else { return nil }
    guard let word = words.next() else { throw words.missing("watch, write or read") }
    return try lane(word)
  }

  private static func lane(_ word: FaultWords.Word) throws(TextError) -> FaultLane {
    guard let lane = FaultLane(rawValue: word.text) else {
      throw word.unexpected("watch, write or read", FaultLane.allCases.map(\.rawValue))
    }
    return lane
  }

  private static func time(_ word: FaultWords.Word) throws(TextError) -> Duration {
    do throws(TextError) { return try DurationText.parse(word.text, longest: longestTime) } catch {
      throw error.moved(by: word.column - 1)
    }
  }

  private static let units = [("B", 1.0), ("kB", 1000), ("MB", 1_000_000)]

  /// Reads a number of bytes: `800B`, `20kB` or `1.5MB`, optionally with the suffix `/s`.
  private static func bytes(_ word: FaultWords.Word) throws(TextError) -> Int {
    let size = word.text.hasSuffix("/s") ? word.text.dropLast(2) : word.text[...]
    let digits = size.prefix { $0.isASCII && $0.isNumber || $0 == "." }
    let unit = size.dropFirst(digits.count)
    guard let number = Double(digits), let factor = units.first(where: { $0.0 == unit })?.1 else {
      let near = units.first { $0.0.lowercased() == unit.lowercased() }.map { " Did you mean \(digits)\($0.0)?" } ?? ""
      throw TextError(column: word.column, "\(word.text) is not a size. Expected, for example, 20kB or 1MB.\(near)")
    }
    let rate = (number * factor).rounded()
    guard rate >= 1, rate <= Double(mostBytes) else {
      throw TextError(column: word.column, "Expected 1B to \(mostBytes / 1_000_000)MB per second.")
    }
    return Int(rate)
  }
}

extension FaultText {
  /// The words for a change, which `parse` can read. Times are written in whole milliseconds.
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
  /// The changes that turn the settings `before` into these settings, in the order in which they must be applied.
  package func changes(from before: FaultSettings) -> [FaultChange] {
    if self == before { return [] }
    if isCalm { return [.calm] }
    var changes: [FaultChange] = []
    var settings = before
    func make(_ change: FaultChange) {
      changes.append(change)
      settings.apply(change)
    }
    // The order matters: a setting for all lanes resets the settings of single lanes, and only `up` reconnects.
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

extension FaultSettings {
  /// A short description of the active settings.
  package var summary: String {
    var words: [String] = []
    words += Self.delays("", latency, jitter)
    if lostAcknowledgements > 0 { words.append("\(lostAcknowledgements) % of acknowledgements lost") }
    if lostRequests > 0 { words.append("\(lostRequests) % of writes lost") }
    if let bandwidth { words.append(FaultText.rate(bandwidth)) }
    if let readingRate { words.append("read at \(FaultText.rate(readingRate))") }
    if isOffline { words.append("unplugged") }
    if isHalfOpen { words.append("silent") }
    if let flap { words.append("flaps every \(DurationText.text(flap))") }
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
  /// A short text for the settings and the one-time faults that have not been injected yet; `nil` if there are none.
  package static func summary(of settings: FaultSettings, waiting: [FaultEvent]) -> String? {
    let parts = (settings.isCalm ? [] : [settings.summary]) + waiting.map(summary)
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  private static func summary(of event: FaultEvent) -> String {
    switch event {
    case .write(.dropAcknowledgement): "next acknowledgement lost"
    case .write(.dropRequest): "next write lost"
    case .write(.reject(let code)): "next write fails: \(code.name)"
    case .read(let code): "next read fails: \(code.name)"
    case .listen(let code): "next listener fails: \(code.name)"
    case .restart, .expireToken: words(of: event)
    }
  }

  /// A description of a change for users. It states the situation after the change.
  package static func account(of change: FaultChange) -> String {
    switch change {
    case .event(.write(.dropAcknowledgement)): "the next write is applied, but its acknowledgement is lost"
    case .event(.write(.dropRequest)): "the next write is lost before it reaches the backend"
    case .event(.write(.reject(let code))): "the next write is rejected: \(code.name)"
    case .event(.read(let code)): "the next read is rejected: \(code.name)"
    case .event(.listen(let code)): "the next listener is rejected: \(code.name)"
    case .event(.restart(withoutTokens: true)): "all streams end, and listeners start over"
    case .event(.restart(withoutTokens: false)): "all streams end"
    case .event(.expireToken): "calls are unauthenticated until the client sends a new token or reconnects"
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
    case .bandwidth: "unlimited bandwidth"
    case .loss(_, before: true): "no lost writes"
    case .loss(_, before: false): "no lost acknowledgements"
    case .flap: "no flapping"
    case .slowReader: "the client reads at full speed"
    default: "reachable again"
    }
  }

  /// The rate as text, such as `20 kB/s`, `800 B/s` or `1.5 MB/s`.
  static func rate(_ bytes: Int) -> String {
    for (unit, size) in [("MB", 1_000_000), ("kB", 1000)] where bytes >= size {
      if bytes % size == 0 { return "\(bytes / size) \(unit)/s" }
      return "\((Double(bytes) / Double(size) * 10).rounded() / 10) \(unit)/s"
    }
    return "\(bytes) B/s"
  }
}

/// The words of a fault text, each with its column.
struct FaultWords {
  struct Word {
    let text: String
    /// The column in Unicode scalars, from 1.
    let column: Int

    /// The error for an unexpected word. It suggests the most similar valid word.
    func unexpected(_ expected: String, _ candidates: [String]) -> TextError {
      let near = NearestName.suggestion(for: text, among: candidates).map { " Did you mean \($0)?" } ?? ""
      return TextError(column: column, "\"\(text)\" is not expected here. Expected \(expected).\(near)")
    }
  }

  private var cursor: TextCursor

  init(_ text: String) { cursor = TextCursor(text) }

  mutating func next() -> Word? {
    cursor.skipSpace()
    if cursor.isAtEnd { return nil }
    let column = cursor.column
    return Word(text: cursor.take { !$0.properties.isWhitespace }, column: column)
  }

  /// Consumes the given word if it is the next one.
  mutating func take(_ word: String) -> Bool {
    let place = cursor
    if next()?.text == word { return true }
    cursor = place
    return false
  }

  func missing(_ expected: String) -> TextError { TextError(column: cursor.column, "Expected \(expected) here.") }

  /// Reads a required word. It must be one of the given words.
  mutating func required(_ expected: String, among words: [String]) throws(TextError) -> String {
    guard let word = next() else { throw missing(expected) }
    guard words.contains(word.text) else { throw word.unexpected(expected, words) }
    return word.text
  }

  /// Reads a required value, or `off`.
  /// - Returns: `nil` for `off`, for a duration of zero and for a percentage of zero.
  mutating func orOff<Value>(
    _ expected: String, _ read: (Word) throws(TextError) -> Value
  ) throws(TextError) -> Value? {
    guard let word = next() else { throw missing(expected) }
    return ["off", "0", "0ms", "0s", "0%"].contains(word.text) ? nil : try read(word)
  }
}
