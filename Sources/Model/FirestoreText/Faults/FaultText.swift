// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel
import Spelling

/// The words for faults between a client and its backend, the same in the palette, scenarios, options and the proxy:
///
///     latency 200ms jitter 100ms on watch
///     bandwidth 20kB
///     loss 10% before
///     next write drop-ack
///     down watch
///     calm
package enum FaultText {
  /// The first words, each with what stands behind it; `off` ends a setting.
  package static let forms: [(word: String, rest: String)] = [
    ("latency", "TIME [jitter TIME] [on watch|write|read]"), ("bandwidth", "BYTES [on watch|write|read]"),
    ("loss", "PERCENT [before|after]"), ("next", "write drop-ack|drop-request|CODE, or read|listen CODE"),
    ("down", "[watch|write|read]"), ("up", ""), ("silent", ""), ("flap", "TIME"), ("slow-reader", "BYTES"),
    ("restart", "[without-tokens]"), ("expire-token", ""), ("calm", ""),
  ]

  /// The longest delay, and the longest time between two changes of a network that comes and goes.
  package static let longestTime = Duration.seconds(3600)
  /// The most bytes a second to which a stream can be held.
  package static let mostBytes = 1_000_000_000

  /// - Throws: `TextError` with the column of the word that is wrong.
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
      let rate = try words.orOff("a size a second, such as 20kB, or off") { word throws(TextError) in try bytes(word) }
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
        try words.orOff("a size a second, such as 10kB, or off") { word throws(TextError) in try bytes(word) })
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
    let share = try words.orOff("a share of the writes, such as 10%, or off") { word throws(TextError) in
      guard word.text.hasSuffix("%"), let share = Int(word.text.dropLast()), (0...100).contains(share) else {
        throw TextError(column: word.column, "\(word.text) is no share. Expected 0% to 100%.")
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
    // gRPC's own spelling is understood too.
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

  /// Reads a number of bytes: `800B`, `20kB`, `1.5MB`, also with `/s` behind it.
  private static func bytes(_ word: FaultWords.Word) throws(TextError) -> Int {
    let size = word.text.hasSuffix("/s") ? word.text.dropLast(2) : word.text[...]
    let digits = size.prefix { $0.isASCII && $0.isNumber || $0 == "." }
    let unit = size.dropFirst(digits.count)
    guard let number = Double(digits), let factor = units.first(where: { $0.0 == unit })?.1 else {
      let near = units.first { $0.0.lowercased() == unit.lowercased() }.map { " Is \(digits)\($0.0) meant?" } ?? ""
      throw TextError(column: word.column, "\(word.text) is no size. Expected one such as 800B, 20kB or 1MB.\(near)")
    }
    let rate = (number * factor).rounded()
    guard rate >= 1, rate <= Double(mostBytes) else {
      throw TextError(column: word.column, "Expected 1B to \(mostBytes / 1_000_000)MB a second.")
    }
    return Int(rate)
  }
}
