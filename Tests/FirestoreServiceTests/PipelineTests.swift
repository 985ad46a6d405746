// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import ServiceTesting
import Testing

@testable import FirestoreService

@Suite("Pipelines on the wire")
struct PipelineTests {
  private static let all = PipelineMessage.Stage("collection", [.path("/c")])

  private func request(
    _ stages: [PipelineMessage.Stage], mode: String? = nil, _ more: (inout WireWriter) -> Void = { _ in }
  ) -> [UInt8] {
    bytes { writer in
      writer.field(1, string: database)
      writer.field(2) { writer in
        writer.field(1) { $0.pipeline(PipelineMessage(stages)) }
        if let mode {
          writer.field(2) { option in
            option.field(1, string: "explain_options")
            option.field(2) { $0.value(.map(mode.isEmpty ? [:] : ["mode": .string(mode)])) }
          }
        }
      }
      more(&writer)
    }
  }

  private func service() async throws -> FirestoreService {
    let service = try makeService()
    for number in 1...3 { try await service.set("c/\(number)", ["n": .integer(Int64(number))]) }
    return service
  }

  @Test("Pipeline results have names and times; an empty result is a message with a time")
  func messages() async throws {
    let service = try await service()
    let messages = try await service.messages(.executePipeline, request([Self.all]))
    #expect(messages.count == 1 && messages[0].all(2).map { $0.text(1) } == (1...3).map { "\(root)/c/\($0)" })
    #expect(messages[0].all(2).allSatisfy { $0[3] != nil && $0[4] != nil })
    #expect(messages[0][3] != nil && messages[0][4] == nil)
    let none = try await service.messages(.executePipeline, request([.init("collection", [.path("/none")])]))
    #expect(none.count == 1 && none[0].all(2).isEmpty && none[0][3] != nil)
  }

  @Test("Large pipeline results are sent in several messages")
  func pieces() async throws {
    let service = try await service()
    for number in 4...9 { try await service.set("c/\(number)", ["t": .string(String(repeating: "x", count: 30_000))]) }
    let messages = try await service.messages(.executePipeline, request([Self.all]))
    #expect(messages.map { $0.all(2).count } == [6, 3])
  }

  @Test("A pipeline reads one version, which may be in the past")
  func readTime() async throws {
    let service = try await service()
    let before = try #require(try await service.messages(.executePipeline, request([Self.all]))[0].bytes(3))
    try await service.set("c/4", [:])
    let union = PipelineMessage.Stage("union", [.pipeline(PipelineMessage([Self.all]))])

    let past = try await service.messages(
      .executePipeline, request([Self.all, union]) { $0.field(7, bytes: before) })
    #expect(past.flatMap { $0.all(2) }.count == 6 && past[0].bytes(3) == before)
    let now = try await service.messages(.executePipeline, request([Self.all, union]))
    #expect(now.flatMap { $0.all(2) }.count == 8)
  }

  @Test("A pipeline can begin a transaction, which aborts if the pipeline's reads change")
  func transactions() async throws {
    let service = try await service()
    let messages = try await service.messages(
      .executePipeline, request([Self.all]) { $0.field(6) { $0.field(3) { _ in } } })
    let transaction = try #require(messages.first?.bytes(1))
    #expect(messages.count == 2 && messages[0].all(2).isEmpty && messages[1].all(2).count == 3)
    let again = try await service.messages(.executePipeline, request([Self.all]) { $0.field(5, bytes: transaction) })
    #expect(again[0].all(2).count == 3)
    try await service.set("c/9", [:])

    let commit = bytes { writer in
      writer.field(1, string: database)
      writer.set("d/x", [:])
      writer.field(3, bytes: transaction)
    }
    let status = await #expect(throws: RPCStatus.self) { try await service.answer(.commit, commit) }
    #expect(status?.code == .aborted)
  }

  @Test("Pipelines that write are rejected in a transaction")
  func writes() async throws {
    let service = try await service()
    let deletion = [Self.all, PipelineMessage.Stage("delete")]
    let status = await #expect(throws: RPCStatus.self) {
      try await service.answer(.executePipeline, request(deletion) { $0.field(6) { $0.field(3) { _ in } } })
    }
    #expect(status?.code == .invalidArgument)
    let answer = try Message(try await service.answer(.executePipeline, request(deletion)))
    #expect(answer.all(2).count == 1)
    #expect(try await service.messages(.executePipeline, request([Self.all]))[0].all(2).isEmpty)
  }

  @Test("A pipeline can be explained without running it; other options are rejected")
  func explain() async throws {
    let service = try await service()
    func text(_ message: Message?) -> String? { message?[4]?[1].flatMap { $0[2]?.text(1) } }
    let plan = try await service.messages(
      .executePipeline, request([Self.all, .init("limit", [.constant(.integer(1))])], mode: "explain"))
    #expect(plan.count == 1 && plan[0].all(2).isEmpty && text(plan[0]) == "Plan:\n  collection\n  limit\n")
    let run = try await service.messages(.executePipeline, request([Self.all], mode: "analyze"))
    #expect(run.count == 1 && run[0].all(2).count == 3)
    #expect(text(run.last)?.contains("Execution:\n  results returned: 3\n") == true)
    let none = try await service.messages(
      .executePipeline, request([.init("collection", [.path("/none")])], mode: "analyze"))
    #expect(none.count == 1 && text(none[0])?.contains("results returned: 0\n") == true)
    for mode in ["execute", ""] {
      let plain = try await service.messages(.executePipeline, request([Self.all], mode: mode))
      #expect(plain.count == 1 && plain[0].all(2).count == 3 && plain[0][4] == nil)
    }
    await #expect(throws: RPCStatus.self) {
      try await service.answer(.executePipeline, request([Self.all], mode: "guess"))
    }
  }

  @Test("A pipeline request without a pipeline or a database is rejected")
  func refusals() async throws {
    let service = try makeService()
    for request in [bytes { $0.field(1, string: database) }, bytes { _ in }, [0x0a, 0x7f]] {
      let status = await #expect(throws: RPCStatus.self) { try await service.answer(.executePipeline, request) }
      #expect(status?.code == .invalidArgument)
    }
  }
}
