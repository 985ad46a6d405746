// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import SeededRandom
import Testing

@testable import FirestorePipelines

@Suite("Encoded pipelines")
struct HostileBytesTests {
  private static let pipelines: [PipelineMessage] = [
    PipelineMessage([
      stage("collection", .path("/books")),
      stage("where", call("and", call("exists", field("year")), call("not", false))),
      stage("select", named([("a", call("array_transform", field("tags"), "e", call("to_upper", .variable("e"))))])),
      stage("sort", order("a", "descending")), stage("limit", 3),
    ]),
    PipelineMessage([
      stage(
        "literals", .constant(["v": .vector([1, 2]), "t": .timestamp(requestTime)]), named([("x", list(1, 2.5, nil))])),
      PipelineMessage.Stage("unnest", [field("x"), field("y")], options: ["index_field": "i"]),
      stage("add_fields", named([("z", call("timestamp_trunc", field("t"), "day", "+01:00"))])),
      stage(
        "union", .pipeline(PipelineMessage([stage("database"), stage("distinct", named([("q", field("stars"))]))]))),
    ]),
    PipelineMessage([
      stage("documents", .path("/books/b1")), stage("let", named([("d", call("current_document"))])),
      stage(
        "select",
        named([
          ("r", call("array", .pipeline(PipelineMessage([stage("subcollection", "reviews"), stage("limit", 1)]))))
        ])),
      stage(
        "aggregate", named([("n", call("count")), ("l", call("array_agg", field("r")))]),
        named([("g", .array([field("r")]))])),
    ]),
  ]

  @Test("A pipeline round-trips through its encoding", arguments: pipelines)
  func roundTrip(_ pipeline: PipelineMessage) throws {
    let bytes = WireWriter.message { $0.pipeline(pipeline) }
    #expect(try WireReader.read(bytes) { reader throws(WireError) in try reader.pipeline() } == pipeline)
  }

  @Test("Pipelines nested too deeply are rejected")
  func depth() throws {
    let deep = (0..<100).reduce(ExpressionMessage.field("a")) { inner, _ in call("not", inner) }
    let bytes = WireWriter.message { $0.pipeline(PipelineMessage([stage("where", deep)])) }
    #expect(throws: WireError.self) { try WireReader.read(bytes) { reader throws(WireError) in try reader.pipeline() } }
  }

  @Test("Extreme numbers in stages and functions give results or errors", arguments: [Int64.min, -1, 0, .max])
  func extremes(_ number: Int64) async throws {
    let (end, all) = (ExpressionMessage.constant(.integer(number)), stage("collection", .path("/books")))
    let search = PipelineMessage.Stage(
      "search", options: ["query": "dune", "limit": end, "offset": .constant(.integer(.max))])
    let nearest = PipelineMessage.Stage(
      "find_nearest", [field("v"), .constant(.vector([1])), "euclidean"], options: ["limit": end])
    for stages in [
      [stage("limit", end)], [stage("offset", end), stage("offset", end), stage("limit", end)], [search], [nearest],
      [stage("sort", order("year")), stage("offset", end), stage("limit", end)], [stage("sample", end, "documents")],
    ] {
      // A status is as good as results.
      do { _ = try await results([all] + stages) } catch {
        #expect(error.code == .invalidArgument)
      }
    }
    for function in [
      call("array_get", field("tags"), end), call("array_slice", field("tags"), end, end),
      call("array_first_n", field("tags"), end), call("substring", field("title"), end, end),
      call("string_repeat", field("title"), end), call("round", end, end), call("trunc", 1.5, end),
      call("timestamp_add", call("current_timestamp"), "day", end), call("unix_millis_to_timestamp", end),
      call("maximum_n", field("tags"), end), call("abs", end), call("divide", end, -1), call("mod", end, -1),
      call("multiply", end, end), call("pow", end, end), call("array_index_of", field("tags"), end),
    ] {
      let found = try await results([all, stage("select", named([("x", call("if_error", function, "error"))]))])
      #expect(found.count == 5)
    }
  }

  @Test("Expressions at the maximum depth are evaluated")
  func deepest() async throws {
    let deep = (0..<60).reduce(ExpressionMessage.field("gone")) { inner, _ in call("if_absent", inner, 1) }
    let bytes = WireWriter.message {
      $0.pipeline(PipelineMessage([stage("literals", .constant([:])), stage("where", deep)]))
    }
    let message = try WireReader.read(bytes) { reader throws(WireError) in try reader.pipeline() }
    #expect(try await results(message.stages).isEmpty)
  }

  @Test("Any bytes sent as a pipeline produce results or an error status")
  func mutations() async throws {
    var generator = SeededGenerator(seed: 26)
    let originals = Self.pipelines.map { pipeline in WireWriter.message { $0.pipeline(pipeline) } }
    var executed = 0
    for round in 0..<10_000 {
      var bytes = originals[round % originals.count]
      for _ in 0...Int.random(in: 0...3, using: &generator) {
        let place = Int.random(in: bytes.indices, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
        case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 2: bytes.remove(at: place)
        default: bytes.insert(UInt8.random(in: .min ... .max, using: &generator), at: place)
        }
      }
      do {
        let message = try WireReader.read(bytes) { reader throws(WireError) in try reader.pipeline() }
        _ = try await results(message.stages)
        executed += 1
      } catch is WireError {
      } catch let status as RPCStatus { #expect(status.code == .invalidArgument, "\(status)") }
    }
    #expect(executed > 100)
  }

  @Test("Any file contents are read as a time zone or rejected")
  func zoneFiles() throws {
    var generator = SeededGenerator(seed: 27)
    let rule = Array("\nPST8PDT,M3.2.0,M11.1.0\n".utf8)
    for round in 0..<10_000 {
      var bytes = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 39)
      bytes += bytes + (0..<40).map { _ in UInt8.random(in: 0...3, using: &generator) } + rule
      for _ in 0...3 {
        bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...90, using: &generator)
      }
      if let zone = TimeZone(file: bytes) {
        #expect(abs(zone.offset(at: Int64(round) * 1_000_000)) < 1_000_000)
        _ = zone.seconds(ofLocal: Int64(round) * 1_000_000)
      }
      let line = rule.map {
        Int.random(in: 0..<9, using: &generator) == 0 ? UInt8.random(in: 44...90, using: &generator) : $0
      }
      if let rule = DaylightRule(line[...]) { #expect(abs(rule.offset(at: Int64(round) * 1_000_000)) < 1_000_000) }
    }
  }
}
