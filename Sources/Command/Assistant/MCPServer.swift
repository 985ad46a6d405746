// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import FirestoreJSON
import Synchronization

/// A server of the Model Context Protocol (modelcontextprotocol.io, versions 2024-11-05 to 2025-11-25).
///
/// ```
/// a line ─┬─ ping, initialize, lists of tools ──► answered immediately
///         ├─ tools/call, resources ─────────────► one after the other, up to 64 waiting
///         └─ notifications/cancelled ───────────► interrupts the call, which is then not answered
/// ```
package final class MCPServer: Sendable {
  /// The versions of the protocol, newest first. A client that requests any other version gets the newest.
  static let versions = ["2025-11-25", "2025-06-18", "2024-11-05"]
  /// The maximum number of waiting requests.
  private static let mostWaiting = 64

  private struct State {
    var isInitialized = false
    var running: String?
    var waiting: Set<String> = []
    var cancelled: Set<String> = []
  }

  private let tools: MCPTools
  private let commands: AssistantCommands
  private let database: String
  private let state = Mutex(State())

  /// - Parameters:
  ///   - allowsWrites: whether to offer the tools that write.
  ///   - database: the name of the database, which is sent to the assistant.
  package init(_ commands: AssistantCommands, allowsWrites: Bool, database: String) {
    tools = MCPTools(allowsWrites: allowsWrites)
    (self.commands, self.database) = (commands, database)
  }

  /// Answers requests until the input ends, then the requests that are still waiting.
  package func run(_ transport: AssistantTransport) async {
    let (calls, queue) = AsyncStream.makeStream(
      of: JSONRPCMessage.self, bufferingPolicy: .bufferingOldest(Self.mostWaiting))
    async let worker: Void = {
      for await call in calls { await self.perform(call, call.id ?? nil, transport) }
    }()
    for await line in transport.lines where !line.allSatisfy(\.isWhitespace) { receive(line, transport, queue) }
    if let problem = transport.problem() {
      transport.send(JSONRPCError(.parseError, "The message \(problem)").answer.lineText)
    }
    queue.finish()
    await worker
  }

  // MARK: Messages

  private func receive(
    _ line: String, _ transport: AssistantTransport, _ queue: AsyncStream<JSONRPCMessage>.Continuation
  ) {
    do throws(JSONRPCError) {
      let syntax: JSONSyntax
      do throws(JSONError) { syntax = try JSONSyntax(parsing: line) } catch {
        throw JSONRPCError(.parseError, "Column \(error.column): \(error.reason)")
      }
      if JSONRPCMessage.isAnswer(syntax) { return }
      let message = try JSONRPCMessage(syntax)
      guard let id = message.id else { return notice(message) }
      do throws(JSONRPCError) {
        if let result = try answer(message) { return transport.send(Self.answer(id, result).lineText) }
        let name = id.lineText
        state.withLock { _ = $0.waiting.insert(name) }
        if case .dropped = queue.yield(message) {
          state.withLock { _ = $0.waiting.remove(name) }
          throw JSONRPCError(.busy, "Too many requests: \(Self.mostWaiting) are already waiting. Try again later.")
        }
      } catch { throw JSONRPCError(error.code, error.message, id: id) }
    } catch { transport.send(error.answer.lineText) }
  }

  private func notice(_ message: JSONRPCMessage) {
    guard message.method == "notifications/cancelled", let id = message.params?["requestId"]?.lineText else { return }
    let isRunning = state.withLock { state in
      if state.running == id || state.waiting.contains(id) { state.cancelled.insert(id) }
      return state.running == id
    }
    if isRunning { commands.interrupt() }
  }

  /// - Returns: the result of a request that needs no command; `nil` for a valid request that must be queued.
  private func answer(_ message: JSONRPCMessage) throws(JSONRPCError) -> JSONSyntax? {
    switch message.method {
    case "initialize": return try initialize(message.params)
    case "ping": return [:]
    case _ where !state.withLock({ $0.isInitialized }):
      throw JSONRPCError(.invalidRequest, "The session is not initialized. Send \"initialize\" first.")
    case "tools/list": return ["tools": .array(tools.descriptions)]
    case "resources/templates/list": return ["resourceTemplates": [MCPResource.template]]
    case "tools/call":
      _ = try tool(message.params)
      return nil
    case "resources/list", "resources/read": return nil
    default: throw JSONRPCError(.methodNotFound, "Unknown method \"\(message.method)\".")
    }
  }

  private func initialize(_ params: JSONSyntax?) throws(JSONRPCError) -> JSONSyntax {
    guard case .string(let asked)? = params?["protocolVersion"]?.kind else {
      throw JSONRPCError(.invalidParams, "\"initialize\" needs a \"protocolVersion\".")
    }
    state.withLock { $0.isInitialized = true }
    let access = tools.allowsWrites ? "The tools can read and write." : "The tools are read-only."
    let instructions = """
      Tools for the Firestore database \(database). \(access) Begin with `list` and `schema`. Paths alternate between \
      collections and documents: cities, cities/SF, cities/SF/parks. Conditions are strings such as \
      'state == CA and population > 1000'. Values of types that JSON lacks are objects such as \
      {"$timestamp": "2026-03-02T11:58:03Z"}.
      """
    return [
      "protocolVersion": .text(Self.versions.contains(asked) ? asked : Self.versions[0]),
      "capabilities": ["tools": [:], "resources": [:]],
      "serverInfo": ["name": "hearth", "title": "Hearth, Cloud Firestore", "version": .text(Release.version)],
      "instructions": .text(instructions),
    ]
  }

  private static func answer(_ id: JSONSyntax, _ result: JSONSyntax) -> JSONSyntax {
    ["jsonrpc": "2.0", "id": id, "result": result]
  }

  private func tool(_ params: JSONSyntax?) throws(JSONRPCError) -> MCPTool {
    guard case .string(let name)? = params?["name"]?.kind else {
      throw JSONRPCError(.invalidParams, "\"tools/call\" needs the \"name\" of a tool.")
    }
    guard let tool = tools.all.first(where: { $0.name == name }) else {
      throw JSONRPCError(.invalidParams, "Unknown tool: \(name)")
    }
    return tool
  }

  // MARK: Calls

  private func perform(_ message: JSONRPCMessage, _ id: JSONSyntax, _ transport: AssistantTransport) async {
    let name = id.lineText
    let isWanted = state.withLock { state in
      (state.running, _) = (name, state.waiting.remove(name))
      return state.cancelled.remove(name) == nil
    }
    var answer: JSONSyntax?
    if isWanted {
      do throws(JSONRPCError) { answer = Self.answer(id, try await result(of: message)) } catch {
        answer = JSONRPCError(error.code, error.message, id: id).answer
      }
    }
    let isCancelled = state.withLock { state in
      state.running = nil
      return state.cancelled.remove(name) != nil
    }
    // A client does not expect the answer of a request that it has cancelled.
    if let answer, !isCancelled { transport.send(answer.lineText) }
  }

  private func result(of message: JSONRPCMessage) async throws(JSONRPCError) -> JSONSyntax {
    switch message.method {
    case "resources/list": return ["resources": .array(await MCPResource.all(by: commands))]
    case "resources/read":
      guard case .string(let uri)? = message.params?["uri"]?.kind else {
        throw JSONRPCError(.invalidParams, "\"resources/read\" needs a \"uri\".")
      }
      return ["contents": [try await MCPResource.content(uri, by: commands)]]
    default:
      let tool = try tool(message.params)
      let arguments = try MCPArguments(message.params?["arguments"], of: tool)
      return try await tool.result(arguments, by: commands)
    }
  }
}

/// The incoming messages of a client, and the function that sends the responses.
package struct AssistantTransport: Sendable {
  /// The lines up to the end of the input.
  let lines: AsyncStream<String>
  /// The reason why the input ended early; `nil` if it ended normally.
  let problem: @Sendable () -> String?
  let send: @Sendable (String) -> Void

  package init(
    _ lines: AsyncStream<String>, problem: @escaping @Sendable () -> String?, send: @escaping @Sendable (String) -> Void
  ) { (self.lines, self.problem, self.send) = (lines, problem, send) }
}

/// The functions that tools use to run commands of Hearth.
package struct AssistantCommands: Sendable {
  /// The output of a command and its exit status.
  package struct Outcome: Hashable, Sendable {
    package var status: Int32
    package var output: String
    package var errors: String
    /// Whether the output was cut, because responses have a maximum size.
    package var isCut: Bool

    package init(status: Int32, output: String, errors: String, isCut: Bool) {
      (self.status, self.output, self.errors, self.isCut) = (status, output, errors, isCut)
    }
  }

  let run: @Sendable ([String]) async -> Outcome
  /// Interrupts the running command.
  let interrupt: @Sendable () -> Void
  /// Reads the text of a file with security rules.
  let readRules: @Sendable (String) throws -> String

  package init(
    run: @escaping @Sendable ([String]) async -> Outcome, interrupt: @escaping @Sendable () -> Void,
    readRules: @escaping @Sendable (String) throws -> String
  ) { (self.run, self.interrupt, self.readRules) = (run, interrupt, readRules) }
}
