// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import NIOCore
import ServerTesting
import Testing

@testable import FirestoreEmulator

/// What web SDKs of 2018 and 2019 say otherwise than those of today.
@Suite("Web SDKs of 2018 and 2019") struct OldSDKTests {
  private func query(_ rest: String) -> String {
    #"{"database":"\#(database.name)","addTarget":{"targetId":2,"query":{"parent":"\#(database.documentsName)","#
      + #""structuredQuery":{"from":[{"collectionId":"c"}]\#(rest)}}}}"#
  }

  private func names(_ server: BrowserFixture, _ target: String) throws -> [String] {
    let session = try server.open("Listen", server.form(0, target))
    let channel = try server.back("Listen", session, after: 0)
    let arrays = try Answer(try channel.sentText()).arrays
    channel.close(promise: nil)
    #expect(arrays.contains { $0.text.contains("CURRENT") }, "\(arrays)")
    return arrays.compactMap { array in
      array.text.firstRange(of: "/documents/c/").map { String(array.text[$0.upperBound...].prefix { $0 != "\"" }) }
    }
  }

  @Test("A query limit may be a wrapper message, as SDKs 5.8 to 7.0 send it")
  func limit() throws {
    let server = try BrowserFixture()
    for name in ["a", "b", "d"] { try server.backend.set("c/\(name)", name) }

    for limit in [#"{"value":2}"#, #"{"value":"2"}"#, "2"] {
      #expect(try names(server, query(#","limit":\#(limit)"#)) == ["a", "b"])
    }
    #expect(try names(server, query(#","limit":null"#)) == ["a", "b", "d"])
  }

  @Test("A timestamp may be an object in documents, filters and preconditions")
  func times() throws {
    let server = try BrowserFixture()
    let writer = try server.open("Write", server.form(0, #"{"database":"\#(database.name)"}"#))
    let name = "\(database.documentsName)/c/a"
    let batch =
      #"{"streamToken":"AAAAAAAAAAA=","writes":[{"update":{"name":"\#(name)","fields":{"t":{"timestampValue":"#
      + #"{"seconds":"5","nanos":7000}},"l":{"arrayValue":{"values":[{"timestampValue":{"seconds":-1}}]}}}}}]}"#
    _ = try server.ask("POST", "Write", "SID=\(writer)&RID=2&AID=0", server.form(1, batch))
    let written = try Answer(try server.back("Write", writer, after: 1).sentText()).arrays
    #expect(written.first?.text.contains("commitTime") == true, "\(written)")

    let later = #"{"fieldFilter":{"field":{"fieldPath":"t"},"op":"OPERATOR","value":{"timestampValue":{"seconds":5}}}}"#
    for (name, count) in [("GREATER_THAN", 1), ("LESS_THAN", 0)] {
      let filter = later.replacing("OPERATOR", with: name)
      #expect(try names(server, query(#","where":\#(filter)"#)).count == count)
    }
    let session = try server.open("Listen", server.form(0, server.listen("c/a")))
    let document = try Answer(try server.back("Listen", session, after: 0).sentText()).body
    #expect(document.contains(#""timestampValue":"1970-01-01T00:00:05.000007Z""#), "\(document)")
    #expect(document.contains(#""timestampValue":"1969-12-31T23:59:59Z""#), "\(document)")

    let late =
      #"{"streamToken":"AAAAAAAAAAA=","writes":[{"delete":"\#(name)","currentDocument":{"updateTime":{"seconds":1}}}]}"#
    _ = try server.ask("POST", "Write", "SID=\(writer)&RID=3&AID=2", server.form(2, late))
    let refused = try Answer(try server.back("Write", writer, after: 2).sentText()).body
    #expect(refused.contains("FAILED_PRECONDITION"), "\(refused)")
  }

  @Test(
    "An invalid limit or timestamp message ends the stream with an error",
    arguments: [
      #""limit":{"value":"x"}"#, #""limit":{"values":3}"#, #""limit":{"value":{"value":3}}"#, #""limit":[3]"#,
      #""where":{"fieldFilter":{"field":{"fieldPath":"t"},"op":"EQUAL","value":{"timestampValue":{"seconds":"x"}}}}"#,
      #""where":{"fieldFilter":{"field":{"fieldPath":"t"},"op":"EQUAL","value":{"timestampValue":5}}}"#,
    ])
  func nonsense(_ part: String) throws {
    let server = try BrowserFixture()
    let session = try server.open("Listen", server.form(0, query(",\(part)")))
    let text = try Answer(try server.back("Listen", session, after: 0).sentText()).body
    #expect(text.contains("INVALID_ARGUMENT") || text.contains(#""code": 3"#), "\(text)")
    #expect(!text.contains("CURRENT"))
  }

  @Test("v1beta1 channels of versions up to 5.7 behave like v1")
  func former() throws {
    let server = try BrowserFixture(version: "v1beta1")
    try server.backend.set("c/a", "there")
    #expect(try names(server, query(#","limit":{"value":3}"#)) == ["a"])

    let writer = try server.open("Write", server.form(0, #"{"database":"\#(database.name)"}"#))
    _ = try server.ask("POST", "Write", "SID=\(writer)&RID=2&AID=0", server.form(1, server.write("c/b", "new")))
    let written = try Answer(try server.back("Write", writer, after: 1).sentText()).arrays
    #expect(written.first?.text.contains("commitTime") == true, "\(written)")
    #expect(try names(server, query("")) == ["a", "b"])
  }

  @Test("A v1beta1 target may name the database instead of the documents root")
  func rootOfDatabase() throws {
    let server = try BrowserFixture(version: "v1beta1")
    try server.backend.set("c/a", "there")
    let target = query("").replacing("\(database.documentsName)\"", with: "\(database.name)\"")
    #expect(target.contains(#""parent":"\#(database.name)""#))
    #expect(try names(server, target) == ["a"])
  }

  @Test(
    "A REST transaction with timestamps as messages commits in both API versions",
    arguments: [
      "v1", "v1beta1",
    ])
  func transaction(version: String) throws {
    let server = try BrowserFixture()
    try server.backend.set("c/a", "there")
    func post(_ method: String, _ body: String) throws -> Answer {
      let channel = try server.connect()
      let target = "/\(version)/\(database.documentsName):\(method)"
      try server.send(channel, "POST", target, body, header: "Content-Type: text/plain")
      return try Answer(try channel.sentText())
    }

    let name = "\(database.documentsName)/c/a"
    #expect(try post("batchGet", #"{"documents":["\#(name)"]}"#).body.contains("there"))
    let write = #"{"writes":[{"update":{"name":"\#(name)","fields":{"t":{"timestampValue":{"seconds":7}}}}WHEN}]}"#
    let late = write.replacing("WHEN", with: #","currentDocument":{"updateTime":{"seconds":1}}"#)
    #expect(try post("commit", late).status.hasPrefix("400"))
    #expect(try post("commit", late).body.contains("FAILED_PRECONDITION"))
    #expect(try post("commit", write.replacing("WHEN", with: "")).status == "200 OK")
    #expect(try post("batchGet", #"{"documents":["\#(name)"]}"#).body.contains("1970-01-01T00:00:07Z"))
    let query = #"{"structuredQuery":{"from":[{"collectionId":"c"}],"limit":{"value":3}}}"#
    #expect(try post("runQuery", query).status.hasPrefix("400"))
  }

  @Test("A page can read the reason why a channel is unknown", arguments: ["v1", "v1beta1", "v1beta2", "admin.v1"])
  func missing(version: String) throws {
    let server = try BrowserFixture(version: version)
    let answer = try server.ask("POST", "Commit", "RID=1", "count=0")
    #expect(answer.status == "404 Not Found")
    #expect(answer.has("Access-Control-Allow-Origin: \(BrowserFixture.page)"))
    #expect(answer.body.contains("Unknown channel"))
  }
}
