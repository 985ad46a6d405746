// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Testing

@testable import FirestorePipelines

@Suite("Times in pipelines")
struct TimeTests {
  private static func time(_ text: String) -> ExpressionMessage {
    .constant(.timestamp(Timestamp(rfc3339: text) ?? .earliest))
  }

  private static let moment = time("1993-04-28T12:01:00.654321Z")

  @Test(
    "Timestamps and numbers convert in both directions",
    arguments: [
      (call("timestamp_to_unix_micros", moment), 735_998_460_654_321),
      (call("timestamp_to_unix_millis", moment), 735_998_460_654),
      (call("timestamp_to_unix_seconds", moment), 735_998_460),
      (call("timestamp_diff", call("timestamp_add", moment, "day", 1), moment, "hour"), 24),
      (call("timestamp_diff", moment, call("timestamp_subtract", moment, "minute", -90), "hour"), -1),
      (call("timestamp_extract", moment, "year"), 1993), (call("timestamp_extract", moment, "dayofweek"), 4),
      (call("timestamp_extract", moment, "dayofyear"), 118), (call("timestamp_extract", moment, "quarter"), 2),
      (call("timestamp_extract", moment, "week(sunday)"), 17), (call("timestamp_extract", moment, "isoweek"), 17),
      (call("timestamp_extract", moment, "microsecond"), 654_321),
      (call("timestamp_extract", moment, "hour", "+05:30"), 17),
      (call("timestamp_extract", time("2021-01-03T00:00:00Z"), "isoyear"), 2020),
      (call("timestamp_extract", time("2021-01-03T00:00:00Z"), "isoweek"), 53),
      (call("timestamp_extract", time("1969-12-31T23:59:59Z"), "hour"), 23),
    ] as [(ExpressionMessage, Int64)])
  func numbers(_ expression: ExpressionMessage, _ expected: Int64) async throws {
    #expect(try await value(expression) == .integer(expected))
  }

  @Test(
    "Timestamps are truncated to each unit",
    arguments: [
      ("microsecond", "1993-04-28T12:01:00.654321Z"), ("millisecond", "1993-04-28T12:01:00.654Z"),
      ("minute", "1993-04-28T12:01:00Z"), ("hour", "1993-04-28T12:00:00Z"), ("day", "1993-04-28T00:00:00Z"),
      ("week", "1993-04-25T00:00:00Z"), ("week(thursday)", "1993-04-22T00:00:00Z"), ("isoweek", "1993-04-26T00:00:00Z"),
      ("month", "1993-04-01T00:00:00Z"), ("quarter", "1993-04-01T00:00:00Z"), ("year", "1993-01-01T00:00:00Z"),
      ("isoyear", "1993-01-04T00:00:00Z"),
    ])
  func cutting(_ part: String, _ expected: String) async throws {
    let found = try await value(call("timestamp_trunc", Self.moment, .constant(.string(part))))
    #expect(found == Timestamp(rfc3339: expected).map { .timestamp($0) })
  }

  @Test("Out-of-range times and unknown units are errors")
  func errors() async throws {
    for wrong in [
      call("timestamp_add", Self.moment, "day", 9_000_000_000),
      call("unix_seconds_to_timestamp", 1_152_921_504_606_846_976),
      call("timestamp_add", Self.moment, "month", 1), call("timestamp_extract", Self.moment, "age"),
      call("timestamp_trunc", Self.moment, "dayofweek"),
      call("timestamp_extract", Self.moment, "day", "../../etc/passwd"),
      call("timestamp_extract", Self.moment, "day", "+25:00"),
    ] { #expect(try await value(call("is_error", wrong)) == true) }
    #expect(try await value(call("current_timestamp")) == .timestamp(requestTime))
  }

  /// Two changes in 1970, then the rule of Los Angeles.
  private static let zoneFile: [UInt8] = {
    func number(_ value: Int64, _ width: Int) -> [UInt8] {
      withUnsafeBytes(of: value.bigEndian) { Array($0.suffix(width)) }
    }
    func header(_ times: Int64, _ types: Int64, _ characters: Int64) -> [UInt8] {
      Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
        + [0, 0, 0, times, types, characters].flatMap { number($0, 4) }
    }
    let types = number(-28_800, 4) + [0, 0] + number(-25_200, 4) + [1, 4]
    let names = Array("PST\0PDT\0".utf8)
    return header(0, 0, 0) + header(2, 2, 8) + number(10_000_000, 8) + number(20_000_000, 8) + [1, 0] + types + names
      + Array("\nPST8PDT,M3.2.0,M11.1.0\n".utf8)
  }()

  @Test("A time zone file gives UTC offsets, and the file's last line covers later years")
  func zones() throws {
    let zone = try #require(TimeZone(file: Self.zoneFile))
    func offset(_ text: String) throws -> Int64 {
      zone.offset(at: try #require(Timestamp(rfc3339: text)).seconds) / 3_600
    }
    #expect(try offset("1970-01-01T00:00:00Z") == -8)
    #expect(try offset("1970-06-01T00:00:00Z") == -7)
    #expect(try offset("2026-03-08T09:59:59Z") == -8)
    #expect(try offset("2026-03-08T10:00:00Z") == -7)
    #expect(try offset("2026-11-01T08:59:59Z") == -7)
    #expect(try offset("2026-11-01T09:00:00Z") == -8)
    let midnight = try #require(Timestamp(rfc3339: "2026-11-01T00:00:00Z")).seconds
    #expect(zone.seconds(ofLocal: midnight) == midnight + 7 * 3_600)
  }
}
