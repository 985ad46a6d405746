// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import SeededRandom
import Synchronization
import Testing

@testable import FirestorePipelines

/// A caller who goes when the pipeline has asked so often whether anybody still waits.
private final class Caller: Sendable {
  private let patience: Int
  private let count = Atomic(0)

  init(patience: Int) { self.patience = patience }

  var questions: Int { count.load(ordering: .relaxed) }
  var hasGone: Bool { questions > patience }
  func isAsked() -> Bool { count.wrappingAdd(1, ordering: .relaxed).newValue > patience }
}

/// Documents in memory, and how many of them were read after the caller had gone.
private struct WatchedDocuments: DocumentSource {
  struct Cursor: DocumentCursor {
    var base: any DocumentCursor
    let caller: Caller
    let late: Late

    mutating func next() async throws(RPCStatus) -> [Document]? {
      if caller.hasGone { late.reads.wrappingAdd(1, ordering: .relaxed) }
      return try await base.next()
    }
  }

  final class Late: Sendable { let reads = Atomic(0) }

  let base: ListedDocuments
  let caller: Caller
  let late = Late()

  func open(_ selection: DocumentSelection, _ constraints: [Filter]) async throws(RPCStatus) -> any DocumentCursor {
    Cursor(base: try await base.open(selection, constraints), caller: caller, late: late)
  }
}

@Suite("Pipeline cancellation and memory use")
struct WorkTests {
  private static let all = stage("collection", .path("/c"))

  private static let documents = ListedDocuments(
    (0..<200).map { number in
      let numbers = (0..<30).map { Value.integer(Int64(($0 * 7 + number) % 50)) }
      let fields: Fields = [
        "n": .integer(Int64(number * 37 % 101)), "a": .array(numbers), "t": .string("word\(number % 9) and more"),
        "v": .vector([Double(number % 17), Double(number % 5)]),
      ]
      return ("c/d\(number)", fields)
    })

  private static let nested = PipelineMessage([
    all, stage("where", call("less_than", field("n"), 5)), stage("sort", order("n")),
    stage("select", named([("n", field("n"))])),
  ])

  /// Of an array, what is smaller than the element of another.
  private static let smaller = call("array_filter", field("a"), "y", call("less_than", .variable("x"), .variable("y")))

  /// Every stage, and every kind of expression that takes long.
  private static let stages: [String: [PipelineMessage.Stage]] = [
    "where": [stage("where", call("greater_than", call("multiply", field("n"), 2), 8))],
    "select": [stage("select", named([("n", field("n")), ("a", field("a")), ("t", call("to_upper", field("t")))]))],
    "add_fields": [stage("add_fields", named([("s", call("string_repeat", field("t"), 20))]))],
    "remove_fields": [stage("remove_fields", field("t"))],
    "sort": [stage("sort", order("n", "descending"))],
    "sorted prefix": [stage("sort", order("n")), stage("limit", 20)],
    "limit": [stage("limit", 150)],
    "offset": [stage("offset", 20)],
    "aggregate": [
      stage(
        "aggregate", named([("c", call("count")), ("all", call("array_agg", field("n")))]), named([("n", field("n"))]))
    ],
    "distinct": [stage("distinct", named([("n", field("n")), ("a", field("a"))]))],
    "find_nearest": [stage("find_nearest", field("v"), .constant(.vector([1, 1])), "euclidean")],
    "replace_with": [stage("replace_with", call("map", "n", field("n"), "a", field("a"), "t", "x"))],
    "sample": [stage("sample", 90, "documents")],
    "share": [stage("sample", 0.5, "percent")],
    "union": [stage("union", .pipeline(PipelineMessage([all, stage("sort", order("n"))])))],
    "unnest": [stage("unnest", field("a"), field("e"))],
    "unnest of unnest": [stage("unnest", field("a"), field("e")), stage("unnest", field("a"), field("f"))],
    "let": [stage("let", named([("k", call("array_concat", field("a"), field("a")))]))],
    "search": [
      PipelineMessage.Stage("search", [], options: ["query": "word3 -none", "sort": .array([order("n")])])
    ],
    "array of a pipeline": [stage("add_fields", named([("p", call("array", .pipeline(nested)))]))],
    "array_transform": [stage("add_fields", named([("w", call("array_transform", field("a"), "x", smaller))]))],
    "literals": [
      stage(
        "union",
        .pipeline(
          PipelineMessage([stage("literals", .constant(["a": [1, 2]]), named([("a", call("array", 1, 2))]))])))
    ],
  ]

  /// Runs to the end, or until it fails.
  private func run(
    _ stages: [PipelineMessage.Stage], for caller: Caller, heldBytes: Int = 8 << 20
  ) async throws -> (failure: RPCStatus?, work: PipelineWork, lateReads: Int) {
    let documents = WatchedDocuments(base: Self.documents, caller: caller)
    let context = EvaluationContext(
      database: database, time: requestTime, heldBytes: heldBytes, isOver: { caller.isAsked() }
    ) { 0x9E37_79B9_7F4A_7C15 }
    let pipeline = try Pipeline(PipelineMessage([Self.all] + stages), in: database)
    var failure: RPCStatus?
    do throws(RPCStatus) {
      var results = try await PipelineRun(documents, context).results(of: pipeline)
      while try await results.next() != nil {}
    } catch { failure = error }
    return (failure, context.work, documents.late.reads.load(ordering: .relaxed))
  }

  /// What a pipeline whose caller went at some moment may still do.
  private func checkEnd(_ stages: [PipelineMessage.Stage], _ names: [String], patience: Int) async throws {
    let caller = Caller(patience: patience)
    let (failure, work, lateReads) = try await run(stages, for: caller, heldBytes: 1 << 30)
    let comment: Comment = "\(names), whose caller went after \(patience) steps"
    #expect(work.heldBytes == 0, comment)
    guard caller.hasGone else { return }
    #expect(failure?.code == .cancelled, comment)
    #expect(caller.questions - patience <= 64, comment)
    #expect(lateReads <= 1, comment)
  }

  @Test("Every stage stops whenever its caller disconnects", arguments: stages.keys.sorted())
  func ends(_ name: String) async throws {
    var random = SeededGenerator(seed: UInt64(name.utf8.count))
    for _ in 0..<TestSize.count(5, full: 12) {
      try await checkEnd(try #require(Self.stages[name]), [name], patience: Int.random(in: 0..<4_000, using: &random))
    }
  }

  @Test("Random chains of stages stop when their caller disconnects", arguments: 1...4)
  func chains(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<TestSize.count(12, full: 40) {
      let names = (0..<Int.random(in: 1...5, using: &random)).map { _ in random.pick(Self.stages.keys.sorted()) }
      try await checkEnd(
        names.flatMap { Self.stages[$0] ?? [] }, names, patience: Int.random(in: 0..<6_000, using: &random))
    }
  }

  @Test("All stages share one memory limit, and the end of the pipeline releases it", arguments: 1...3)
  func bound(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: 100 + seed)
    for _ in 0..<TestSize.count(10, full: 30) {
      let names = (0..<Int.random(in: 2...5, using: &random)).map { _ in random.pick(Self.stages.keys.sorted()) }
      let (failure, work, _) = try await run(
        names.flatMap { Self.stages[$0] ?? [] }, for: Caller(patience: 30_000), heldBytes: 300_000)
      #expect(work.mostHeldBytes <= 300_000 && work.heldBytes == 0, "\(names)")
      if let failure { #expect([.resourceExhausted, .invalidArgument, .cancelled].contains(failure.code), "\(names)") }
    }
  }

  @Test("Stages that together exceed the memory limit are rejected")
  func together() async throws {
    // Each has the row and the array that it goes through at the same time as those before it.
    let unnest = { (name: String) in stage("unnest", field("a"), field(name)) }
    let caller = Caller(patience: .max)
    let alone = try await run([unnest("x")], for: caller)
    #expect(alone.failure == nil)
    let status = try await run(
      (0..<6).map { unnest("x\($0)") }, for: caller, heldBytes: 2 * alone.work.mostHeldBytes
    ).failure
    #expect(status?.code == .resourceExhausted)
    #expect(status?.message.contains("'unnest'") == true)
  }

  @Test("A nested unnest stops when its task is canceled")
  func unnested() async throws {
    let source = ListedDocuments([("c/a", ["a": .array((0..<6_000).map { .integer($0) })])])
    let count = Atomic(0)
    // Where the task's end is not noticed the questions go on, up to a hundred.
    let isOver = { @Sendable in Task.isCancelled || count.load(ordering: .relaxed) > 100 }
    let context = EvaluationContext(database: database, time: requestTime, isOver: isOver) {
      // Asked for each row that is unnested again.
      if count.wrappingAdd(1, ordering: .relaxed).newValue == 3 { withUnsafeCurrentTask { $0?.cancel() } }
      return 1
    }
    let stages = [
      Self.all, stage("unnest", field("a"), field("b")),
      stage("unnest", call("array_concat", field("a"), call("array", call("rand"))), field("c")),
      stage("aggregate", named([("n", call("count"))])),
    ]

    let status = await Task { () async -> RPCStatus? in
      do throws(RPCStatus) {
        _ = try await results(stages, of: source, context)
        return nil
      } catch { return error }
    }.value

    #expect(status?.code == .cancelled)
    #expect(count.load(ordering: .relaxed) == 3)
  }

  @Test("A writing pipeline returns no writes after its caller disconnects")
  func writes() async throws {
    let pipeline = try Pipeline(
      PipelineMessage([Self.all, stage("where", call("less_than", field("n"), 50)), stage("delete")]), in: database)
    let write = try #require(pipeline.write)
    func count(_ caller: Caller) async -> Int? {
      let context = EvaluationContext(database: database, time: requestTime, isOver: { caller.isAsked() }) { 1 }
      return try? await PipelineRun(Self.documents, context).mutations(of: pipeline, write).count
    }
    let patient = Caller(patience: .max)
    let all = await count(patient)
    #expect(all == 99)
    let (some, last) = (stride(from: 0, to: patient.questions, by: 23), (patient.questions - 5)..<patient.questions)
    for patience in Array(some) + last { #expect(await count(Caller(patience: patience)) == nil) }
  }

  @Test("An expression that handles errors still stops when the caller disconnects")
  func hidden() async throws {
    let walk = call("array_filter", field("a"), "x", call("less_than", .variable("x"), 3))
    let hidden = call("if_error", call("array_length", walk), call("is_error", walk))
    let caller = Caller(patience: 300)
    let (failure, _, _) = try await run([stage("where", call("equal", hidden, 1))], for: caller)
    #expect(failure?.code == .cancelled && caller.questions < 400)
  }
}
