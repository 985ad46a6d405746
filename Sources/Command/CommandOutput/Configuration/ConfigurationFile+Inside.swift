// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreText
import TOMLReading

extension ConfigurationFile {
  /// Reads `[budget]`, or `[bill]`.
  /// - Returns: the keys that were left out, with the reasons.
  mutating func readInside(_ table: TOMLTable, isBudget: Bool) -> [(key: String, reason: String)] {
    var settings = inside ?? InsideSettings()
    defer { inside = settings }
    return table.keys.compactMap { key in
      guard let value = table[key] else { return nil }
      let reason = isBudget ? settings.budget.read(value, of: key) : settings.price.read(value, of: key)
      return reason.map { (key, $0) }
    }
  }
}

extension LatencyBudget {
  /// - Returns: the reason why the value is refused; `nil` if it is taken.
  fileprivate mutating func read(_ value: TOMLValue, of key: String) -> String? {
    guard ["opening", "first-snapshot", "p50", "p99"].contains(key) else {
      return "unknown budget \"\(key)\"; known are opening, first-snapshot, p50 and p99"
    }
    guard let text = value.string, let time = try? DurationText.parse(text, longest: .seconds(3600)) else {
      return "\(key) must be a time in quotes, such as \"50ms\""
    }
    switch key {
    case "opening": opening = time
    case "first-snapshot": firstSnapshot = time
    case "p50": median = time
    default: p99 = time
    }
    return nil
  }
}

extension ReadPrice {
  /// - Returns: the reason why the value is refused; `nil` if it is taken.
  fileprivate mutating func read(_ value: TOMLValue, of key: String) -> String? {
    switch (key, value) {
    case ("reads", .float(let price)) where price.isFinite && price >= 0 && price <= 1_000_000:
      millionths = Int((price * 1_000_000).rounded())
    case ("reads", .integer(let price)) where (0...1_000_000).contains(price): millionths = Int(price) * 1_000_000
    case ("reads", _): return "reads must be the price of 100 000 reads, such as 0.06"
    case ("currency", .string(let name)) where (1...8).contains(name.count): currency = name
    case ("currency", _): return "currency must be a name of at most 8 letters in quotes"
    case ("as-of", .string(let month)) where (1...20).contains(month.count): asOf = month
    case ("as-of", _): return "as-of must be a date in quotes, such as \"2025-06\""
    default: return "unknown setting \"\(key)\"; known are reads, currency and as-of"
    }
    return nil
  }
}
