// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc
import Testing

extension EndToEndTests.InPipes {
  /// `hearth mcp`: the Model Context Protocol over standard input and output.
  @Suite(.serialized) struct MCPTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    /// One session with a server.
    private final class Session {
      let process: ChildProcess
      private var last = 0

      init(_ arguments: [String] = [], _ surroundings: Surroundings) async throws {
        process = try ChildProcess(
          [Surroundings.hearth, "mcp"] + arguments, environment: surroundings.environment, streams: .pipes)
        let answer = try await request("initialize", #"{"protocolVersion": "2025-06-18", "capabilities": {}}"#)
        #expect(answer.contains(#""protocolVersion": "2025-06-18""#), "\(answer)")
        process.write(#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"# + "\n")
      }

      func send(_ line: String) { process.write(line + "\n") }

      func request(_ method: String, _ params: String = "{}") async throws -> String {
        last += 1
        send(#"{"jsonrpc": "2.0", "id": \#(last), "method": "\#(method)", "params": \#(params)}"#)
        let answer = try await process.line()
        #expect(answer.hasPrefix(#"{"jsonrpc": "2.0", "id": \#(last), "#), "\(answer)")
        return answer
      }

      /// The text of a tool's answer, and whether it is an error.
      func call(_ tool: String, _ arguments: String = "{}") async throws -> (text: String, isError: Bool) {
        let answer = try await request("tools/call", #"{"name": "\#(tool)", "arguments": \#(arguments)}"#)
        let json = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any]
        let result = try #require(json?["result"] as? [String: Any], "\(answer)")
        let content = try #require((result["content"] as? [[String: Any]])?.first?["text"] as? String)
        return (content, try #require(result["isError"] as? Bool))
      }
    }

    private func hearth(_ arguments: String...) async throws {
      let run = try await HeadlessRun(arguments, surroundings)
      #expect(run.status == 0, "\(run.errors)")
    }

    @Test("MCP tools read documents, and by default no tool writes")
    func reading() async throws {
      try await hearth("set", "cities/SF", "name=San Francisco", "state=CA", "n=1")
      try await hearth("set", "cities/LA", "state=CA", "n=2")
      try await hearth("set", "cities/NY", "state=NY", "n=3")
      let session = try await Session([], surroundings)
      let list = try await session.request("tools/list")
      for tool in [
        "list", "get", "query", "count", "schema", "explain", "watch", "rules_check", "rules_test", "programs",
      ] {
        #expect(list.contains(#"{"name": "\#(tool)", "description": "#), "\(tool)")
      }
      #expect(!list.contains(#""readOnlyHint": false"#) && !list.contains(#""name": "delete""#))

      #expect(try await session.call("list").text.contains("cities"))
      #expect(try await session.call("list", #"{"path": "cities"}"#).text.contains("SF"))
      #expect(try await session.call("get", #"{"path": "cities/SF"}"#).text.contains("San Francisco"))
      let query = try await session.call(
        "query",
        #"{"path": "cities", "where": ["state == CA", "n > 0"], "orderBy": ["n:desc"], "limit": 1, "select": ["n"]}"#)
      #expect(query.text.contains("cities/LA") && !query.text.contains("SF") && !query.text.contains("CA"), "\(query)")
      let count = try await session.call("count", #"{"path": "cities", "where": "state == CA"}"#)
      #expect(count.text.contains("2") && !count.isError)
      #expect(try await session.call("count", #"{"path": "cities", "groupBy": ["state"]}"#).text.contains("NY"))
      #expect(try await session.call("schema", #"{"path": "cities"}"#).text.contains("name"))
      #expect(try await !session.call("explain", #"{"path": "cities", "where": ["n > 1"]}"#).isError)

      let missing = try await session.call("get", #"{"path": "cities/XX"}"#)
      #expect(missing.isError && missing.text.contains("cities/XX does not exist"))
      let wrong = try await session.call("query", #"{"path": "cities", "where": ["state = = CA"]}"#)
      #expect(wrong.isError && wrong.text.contains("--where"), "\(wrong)")
      let write = try await session.request("tools/call", #"{"name": "delete", "arguments": {"path": "cities/SF"}}"#)
      #expect(write.contains(#""code": -32602"#), "\(write)")
      session.process.closeInput()
      #expect(try await session.process.exitStatus() == 0)
    }

    @Test("With --allow-writes, MCP tools set, update and delete documents")
    func writing() async throws {
      let session = try await Session(["--allow-writes"], surroundings)
      #expect(try await !session.call("set", #"{"path": "c/a", "data": {"n": 1, "s": "x"}}"#).isError)
      #expect(try await !session.call("update", #"{"path": "c/a", "data": {"n": 2}}"#).isError)
      #expect(try await session.call("get", #"{"path": "c/a"}"#).text.contains(#""n": 2"#))
      #expect(try await !session.call("set", #"{"path": "c/a", "data": {"m": 3}, "merge": true}"#).isError)
      #expect(try await session.call("get", #"{"path": "c/a"}"#).text.contains(#""s": "x""#))
      #expect(try await !session.call("delete", #"{"path": "c/a"}"#).isError)
      #expect(try await session.call("get", #"{"path": "c/a"}"#).isError)
      let whole = try await session.request("tools/call", #"{"name": "delete", "arguments": {"path": "c"}}"#)
      #expect(whole.contains("must be the path of a document"), "\(whole)")
    }

    @Test("A long result of an MCP tool is cut at the end of a line")
    func bounds() async throws {
      let filling = String(repeating: "x", count: 900)
      let lines = (0..<200).map { "{\"path\": \"c/d\(1_000 + $0)\", \"data\": {\"s\": \"\(filling)\"}}\n" }
      try surroundings.write("in.jsonl", lines.joined())
      try await hearth("import", surroundings.folder.path + "/in.jsonl")
      let session = try await Session([], surroundings)
      for _ in 0..<2 {
        let answer = try await session.call("query", #"{"path": "c", "limit": 500}"#).text
        #expect(answer.utf8.count < 61_000 && answer.contains("The output is truncated"), "\(answer.suffix(300))")
        #expect(answer.split(separator: "\n").dropLast().allSatisfy { $0.hasSuffix("}") })
      }
      let few = try await session.call("query", #"{"path": "c", "limit": 3}"#).text
      #expect(few.split(separator: "\n").count == 3)
    }

    @Test("The MCP tool watch returns changes, and pings are answered while it waits")
    func watch() async throws {
      try await hearth("set", "c/a", "n=1")
      let session = try await Session([], surroundings)
      session.send(
        #"{"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": {"name": "watch", "arguments": {"#
          + #""path": "c", "seconds": 30}}}"#)
      session.send(#"{"jsonrpc": "2.0", "id": "p", "method": "ping"}"#)
      #expect(try await session.process.line() == #"{"jsonrpc": "2.0", "id": "p", "result": {}}"#)
      // A cancelled call is not answered, and the next one is.
      session.send(#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "w"}}"#)
      #expect(try await session.call("get", #"{"path": "c/a"}"#).text.contains(#""n": 1"#))
      let short = try await session.call("watch", #"{"path": "c", "seconds": 1}"#)
      #expect(short.text.contains(#""type": "added", "path": "c/a""#) && !short.isError, "\(short)")
    }

    @Test("MCP tools check rules and test a request as a user")
    func rules() async throws {
      let session = try await Session([], surroundings)
      let rules =
        "rules_version = '2';\\nservice cloud.firestore {\\n match /databases/{d}/documents { match /rooms/{r} {\\n"
        + "   allow read: if request.auth.uid == resource.data.owner || request.auth.token.admin == true; } } }"
      #expect(try await session.call("rules_check", #"{"rules": "\#(rules)"}"#).text.contains("no errors"))
      let broken = try await session.call("rules_check", #"{"rules": "service cloud.firestore { match }"}"#)
      #expect(broken.text.contains("line 1, column 33: error"), "\(broken)")
      let stored = #""stored": {"rooms/a": {"owner": "ada"}}"#
      let test = #""method": "get", "path": "rooms/a", "rules": "\#(rules)", \#(stored)"#
      #expect(
        try await session.call("rules_test", #"{\#(test), "user": "ada"}"#).text == #"{"allowed": true, "line": 4}"#)
      let denied = try await session.call("rules_test", #"{\#(test), "user": "bob"}"#)
      #expect(denied.text.hasPrefix(#"{"allowed": false, "line": 4, "reason": "#), "\(denied)")
      let admin = try await session.call("rules_test", #"{\#(test), "user": "bob", "claims": {"admin": true}}"#)
      #expect(admin.text.contains(#""allowed": true"#), "\(admin)")
      let both = try await session.request(
        "tools/call", #"{"name": "rules_check", "arguments": {"rules": "x", "file": "y"}}"#)
      #expect(both.contains(#""code": -32602"#))
    }

    @Test("MCP offers collections and documents as resources")
    func resources() async throws {
      try await hearth("set", "cities/S F", "n=1")
      let session = try await Session([], surroundings)
      #expect(try await session.request("resources/list").contains(#""uri": "hearth:///cities", "name": "cities""#))
      #expect(try await session.request("resources/templates/list").contains("hearth:///{+path}"))
      let read = try await session.request("resources/read", #"{"uri": "hearth:///cities/S%20F"}"#)
      #expect(read.contains(#""mimeType": "application/json""#) && read.contains(#"\"n\": 1"#), "\(read)")
      for uri in ["hearth:///cities/none", "file:///etc/passwd", "hearth:///--help"] {
        let answer = try await session.request("resources/read", #"{"uri": "\#(uri)"}"#)
        #expect(answer.contains(#""code": -32002"#), "\(answer)")
      }
    }

    @Test("MCP tools show a running program's pending writes and network")
    func program() async throws {
      surroundings.environment["HEARTH_INSPECT"] = "1"
      let program = try ChildProcess(
        [Surroundings.hearth, "plain", "--in-memory", "--offline"], environment: surroundings.environment,
        streams: .pipes)
      program.write("set c/a {\"n\": 1}\n")
      while try await !program.line().contains("1 write pending") {}
      let session = try await Session([], surroundings)
      let programs = try await session.call("programs")
      #expect(programs.text.contains(#""name": "hearth plain""#), "\(programs)")
      let state = try await session.call("program_state", #"{"program": "plain"}"#)
      #expect(!state.isError && state.text.contains("c/a") && state.text.contains(#""type": "status""#), "\(state)")
      #expect(state.text.contains("offline"), "\(state)")
    }

    @Test(
      "MCP errors have JSON-RPC codes, and the session continues",
      arguments: [
        ("{oops", "null", -32_700), (#"{"jsonrpc": "1.0", "id": 1, "method": "ping"}"#, "1", -32_600),
        (#"{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}"#, "null", -32_600), ("[]", "null", -32_600),
        (#"{"jsonrpc": "2.0", "id": 1}"#, "1", -32_600),
        (#"{"jsonrpc": "2.0", "id": "x", "method": "prompts/list"}"#, "\"x\"", -32_601),
        (#"{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}"#, "1", -32_602),
        (#"{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}"#, "1", -32_602),
        (#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "nope"}}"#, "1", -32_602),
        (
          #"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get", "arguments": {}}}"#, "1",
          -32_602
        ),
        (
          #"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get", "arguments": {"path": 1}}}"#,
          "1", -32_602
        ),
        (
          #"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get", "arguments": {"path": "--help"}}}"#,
          "1", -32_602
        ),
        (
          #"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list", "arguments": {"limit": 0}}}"#,
          "1", -32_602
        ),
      ])
    func errors(_ line: String, _ id: String, _ code: Int) async throws {
      let session = try await Session([], surroundings)
      session.send(line)
      let answer = try await session.process.line()
      #expect(
        answer.hasPrefix(#"{"jsonrpc": "2.0", "id": \#(id), "error": {"code": \#(code), "message": "#), "\(answer)")
      #expect(try await session.request("ping").hasSuffix(#""result": {}}"#))
    }

    @Test("MCP requests before initialize fail; for an unknown version the newest is used")
    func versions() async throws {
      let process = try ChildProcess(
        [Surroundings.hearth, "mcp", "--in-memory"], environment: surroundings.environment, streams: .pipes)
      process.write(#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"# + "\n")
      #expect(try await process.line().contains(#""code": -32600"#))
      process.write(
        #"{"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {"protocolVersion": "1999-01-01"}}"# + "\n")
      #expect(try await process.line().contains(#""protocolVersion": "2025-11-25""#))
      // An answer to no request, a notification and an empty line are passed over.
      process.write(
        #"{"jsonrpc": "2.0", "id": 9, "result": {}}"# + "\n\n" + #"{"jsonrpc": "2.0", "method": "x"}"# + "\n")
      process.write(#"{"jsonrpc": "2.0", "id": 3, "method": "ping"}"# + "\n")
      #expect(try await process.line().contains(#""id": 3"#))
      process.closeInput()
      #expect(try await process.exitStatus() == 0)
    }
  }
}
