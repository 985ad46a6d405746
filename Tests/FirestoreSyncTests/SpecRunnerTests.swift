// SPDX-License-Identifier: Apache-2.0
import FirestoreSpec
import FirestoreTesting
import Foundation
import Testing

@Suite struct SpecRunnerTests {
  private static let q = #"{"path":"notes","filters":[],"orderBys":[]}"#
  private static func document(_ path: String, _ version: Int, local: Bool = false) -> String {
    #"{"key":"\#(path)","version":\#(version),"createTime":0,"value":{"n":1},"#
      + #""options":{"hasLocalMutations":\#(local),"hasCommittedMutations":false}}"#
  }

  /// A listen, a write, its acknowledgement and echo; each step with everything that holds after it.
  private static let steps = [
    #"{"userListen":{"query":\#(q),"targetId":2},"#
      + #""expectedState":{"activeTargets":{"2":{"queries":[\#(q)],"resumeToken":""}},"watchStreamRequestCount":1}}"#,
    #"{"addSnapshotsInSyncListener":true,"expectedSnapshotsInSyncEvents":1}"#,
    #"{"watchAck":[2]}"#,
    #"{"watchEntity":{"docs":[\#(document("notes/x", 1000))],"targets":[2]}}"#,
    #"{"watchCurrent":[[2],"t1"]}"#,
    #"{"watchSnapshot":{"version":1000,"targetIds":[]},"expectedSnapshotsInSyncEvents":1,"expectedSnapshotEvents":["#
      + #"{"query":\#(q),"added":[\#(document("notes/x", 1000))],"errorCode":0,"fromCache":false,"#
      + #""hasPendingWrites":false}]}"#,
    #"{"userSet":["notes/y",{"n":1}],"expectedSnapshotsInSyncEvents":1,"expectedSnapshotEvents":["#
      + #"{"query":\#(q),"added":[\#(document("notes/y", 0, local: true))],"errorCode":0,"fromCache":false,"#
      + #""hasPendingWrites":true}],"expectedState":{"numOutstandingWrites":1,"writeStreamRequestCount":2}}"#,
    #"{"waitForPendingWrites":true}"#,
    #"{"writeAck":{"version":2000},"expectedWaitForPendingWritesEvents":1,"#
      + #""expectedState":{"userCallbacks":{"acknowledgedDocs":["notes/y"],"rejectedDocs":[]}}}"#,
    #"{"watchEntity":{"docs":[\#(document("notes/y", 2000))],"targets":[2]}}"#,
    #"{"watchSnapshot":{"version":2000,"targetIds":[]},"expectedSnapshotsInSyncEvents":1,"expectedSnapshotEvents":["#
      + #"{"query":\#(q),"metadata":[\#(document("notes/y", 2000))],"errorCode":0,"fromCache":false,"#
      + #""hasPendingWrites":false}]}"#,
    #"{"watchEntity":{"key":"notes/x","removedTargets":[2]}}"#,
    #"{"watchSnapshot":{"version":3000,"targetIds":[]},"expectedSnapshotsInSyncEvents":1,"expectedSnapshotEvents":["#
      + #"{"query":\#(q),"errorCode":0,"fromCache":true,"hasPendingWrites":false}],"#
      + #""expectedState":{"activeLimboDocs":["notes/x"],"enqueuedLimboDocs":[],"activeTargets":{"#
      + #""1":{"queries":[{"path":"notes/x","filters":[],"orderBys":[]}],"resumeToken":"","#
      + #""targetPurpose":"TargetPurposeLimboResolution"},"2":{"queries":[\#(q)],"resumeToken":""}}}}"#,
  ]

  private static func file(_ steps: [String], tags: String = "[]") -> String {
    #"{"A test":{"describeName":"D","itName":"A test","tags":\#(tags),"#
      + #""config":{"useEagerGCForMemory":true,"numClients":1},"steps":[\#(steps.joined(separator: ","))]}}"#
  }

  private static func mismatch(_ text: String, _ storage: SpecStorage = .memory) throws -> SpecMismatch? {
    let test = try #require(try SpecTest.parse(text, file: "own").first)
    return SpecRun.failure(of: test, on: storage)
  }

  @Test("A correct specification test passes on both storages", arguments: SpecStorage.allCases)
  func passes(storage: SpecStorage) throws {
    let mismatch = try Self.mismatch(Self.file(Self.steps), storage)
    #expect(mismatch == nil, "\(mismatch?.description ?? "")")
  }

  @Test(
    "A wrong expectation of any type fails the step that contains it",
    arguments: [
      (#""added":[\#(document("notes/x", 1000))]"#, #""added":[\#(document("notes/x", 1001))]"#, "events"),
      (#""added":[\#(document("notes/x", 1000))]"#, #""modified":[\#(document("notes/x", 1000))]"#, "events"),
      (#""fromCache":false,"hasPendingWrites":true"#, #""fromCache":true,"hasPendingWrites":true"#, "events"),
      (#""fromCache":false,"hasPendingWrites":true"#, #""fromCache":false,"hasPendingWrites":false"#, "events"),
      (#""errorCode":0,"fromCache":true"#, #""errorCode":7,"fromCache":true"#, "events"),
      (
        #""activeTargets":{"2":{"queries":[\#(q)],"resumeToken":""}}"#,
        #""activeTargets":{"2":{"queries":[\#(q)],"resumeToken":"t"}}"#, "active targets"
      ),
      (#""activeTargets":{"2":{"queries":[\#(q)],"resumeToken":""}}"#, #""activeTargets":{}"#, "active targets"),
      ("TargetPurposeLimboResolution", "TargetPurposeListen", "active targets"),
      (#""activeLimboDocs":["notes/x"]"#, #""activeLimboDocs":[]"#, "active limbo documents"),
      (#""enqueuedLimboDocs":[]"#, #""enqueuedLimboDocs":["notes/x"]"#, "enqueued limbo documents"),
      (#""numOutstandingWrites":1"#, #""numOutstandingWrites":0"#, "outstanding writes"),
      (#""writeStreamRequestCount":2"#, #""writeStreamRequestCount":1"#, "write stream requests"),
      (#""watchStreamRequestCount":1"#, #""watchStreamRequestCount":2"#, "watch stream requests"),
      (#""acknowledgedDocs":["notes/y"]"#, #""acknowledgedDocs":[]"#, "acknowledged writes"),
      (#""rejectedDocs":[]"#, #""rejectedDocs":["notes/y"]"#, "rejected writes"),
      (#""expectedSnapshotsInSyncEvents":1}"#, #""expectedSnapshotsInSyncEvents":0}"#, "snapshots-in-sync calls"),
      (#""expectedWaitForPendingWritesEvents":1"#, #""expectedWaitForPendingWritesEvents":0"#, "pending-writes calls"),
      (#""targetId":2"#, #""targetId":4"#, "action"),
    ])
  func fails(original: String, changed: String, subject: String) throws {
    let text = Self.file(Self.steps)
    let found = try #require(text.range(of: original), "the test's own text has changed")

    let mismatch = try Self.mismatch(text.replacingCharacters(in: found, with: changed))

    #expect(mismatch?.subject == subject)
  }

  @Test("A specification test fails if an event is not expected")
  func missingEvent() throws {
    let unexpected = [Self.steps[0], #"{"userSet":["notes/y",{"n":1}]}"#]
    #expect(try Self.mismatch(Self.file(unexpected))?.subject == "events")
  }

  @Test(
    "Unknown input in a specification test is an error that names the input",
    arguments: [
      ("{", "1:2"), (#"{"A":1}"#, "Expected an object"),
      (file([#"{"userDance":true}"#]), "userDance"),
      (file([#"{"watchAck":[2],"expectedMood":1}"#]), "expectedMood"),
      (file([#"{"watchAck":[2],"expectedState":{"mood":1}}"#]), "mood"),
      (file([#"{"watchAck":[2],"watchReset":[2]}"#]), "one action"),
      (file([#"{"failDatabase":["Wash dishes"]}"#]), "Wash dishes"),
      (file([#"{"userListen":{"query":{"path":"a"},"targetId":2}}"#]), "filters"),
    ])
  func malformed(text: String, part: String) {
    #expect {
      try SpecTest.parse(text, file: "own.json")
    } throws: { error in
      let text = (error as? SpecFormatError)?.description ?? ""
      return text.hasPrefix("own.json:") && text.contains(part)
    }
  }

  @Test("Specification tests are skipped only for a known reason")
  func skipping() throws {
    func reason(_ tags: String, _ storage: SpecStorage) throws -> String? {
      try SpecTest.parse(Self.file([], tags: tags), file: "own").first?.reasonToSkip(on: storage)
    }
    #expect(try reason("[]", .memory) == nil)
    #expect(try reason(#"["no-ios","no-android"]"#, .durable) == nil)
    #expect(try reason(#"["eager-gc"]"#, .durable) != nil)
    #expect(try reason(#"["durable-persistence"]"#, .memory) != nil)
    // What is in memory cannot be shared.
    #expect(try reason(#"["multi-client"]"#, .memory) != nil)
    #expect(try reason(#"["multi-client"]"#, .durable) == nil)
    #expect(try reason(#"["multi-client","no-web"]"#, .durable) != nil)
  }

  @Test(
    "Unknown members and wrong types in a specification step are errors",
    arguments: [
      #"{"userListen":{"query":\#(q),"targetId":2,"mood":1}}"#,
      #"{"userListen":{"query":\#(q),"targetId":2,"options":{"mood":1}}}"#,
      #"{"userListen":{"query":\#(q),"targetId":2,"options":{"source":"mood"}}}"#,
      #"{"userListen":{"query":\#(q),"targetId":4294967298}}"#,
      #"{"userListen":{"query":{"path":"a","filters":[],"orderBys":[["a","mood"]]},"targetId":2}}"#,
      #"{"userListen":{"query":{"path":"a","filters":[],"orderBys":[],"mood":1},"targetId":2}}"#,
      #"{"userListen":{"query":{"path":"a","filters":[],"orderBys":[],"limitType":"LimitToLast"},"targetId":2}}"#,
      #"{"userUnlisten":["mood",\#(q)]}"#, #"{"userUnlisten":[2,\#(q),1]}"#, #"{"userSet":["notes/x",{},1]}"#,
      #"{"userPatch":["notes/x",{},1]}"#, #"{"userDelete":{"key":"notes/x"}}"#,
      #"{"addSnapshotsInSyncListener":1}"#, #"{"removeSnapshotsInSyncListener":false}"#,
      #"{"waitForPendingWrites":{}}"#, #"{"loadBundle":1}"#, #"{"changeUser":1}"#, #"{"watchAck":2}"#,
      #"{"watchCurrent":[[2],"t",1]}"#, #"{"watchReset":["2"]}"#, #"{"watchRemove":{"targetIds":[2],"mood":1}}"#,
      #"{"watchRemove":{"targetIds":[2],"cause":{"code":5,"mood":1}}}"#, #"{"watchEntity":{"docs":[],"mood":1}}"#,
      #"{"watchEntity":{"docs":[],"key":"notes/x"}}"#, #"{"watchEntity":{"targets":[2]}}"#,
      #"{"watchFilter":{"targetIds":[2],"keys":[],"mood":1}}"#, #"{"watchFilter":{"targetIds":[2],"keys":[1]}}"#,
      #"{"watchSnapshot":{"version":1,"targetIds":[],"mood":1}}"#,
      #"{"watchStreamClose":{"error":{"code":14},"runBackoffTimer":true,"mood":1}}"#,
      #"{"writeAck":{"version":1,"mood":1}}"#, #"{"failWrite":{"error":{"code":5},"mood":1}}"#,
      #"{"enableNetwork":1}"#, #"{"drainQueue":1}"#, #"{"runTimer":"mood"}"#, #"{"restart":1}"#,
      #"{"shutdown":false}"#, #"{"clearPersistence":{}}"#, #"{"triggerLruGC":true}"#,
      #"{"applyClientState":{"mood":1}}"#, #"{"failDatabase":true}"#, #"{"setIndexConfiguration":{"mood":1}}"#,
      #"{"watchAck":[2],"clientIndex":1}"#, #"{"watchAck":[2],"clientIndex":"0"}"#,
      #"{"watchAck":[2],"expectedSnapshotEvents":[{"query":\#(q),"fromCache":true,"hasPendingWrites":true,"mood":1}]}"#,
      #"{"watchAck":[2],"expectedState":{"isPrimary":1}}"#,
      #"{"watchAck":[2],"expectedState":{"userCallbacks":{"acknowledgedDocs":[],"rejectedDocs":[],"mood":1}}}"#,
      #"{"watchAck":[2],"expectedState":{"activeTargets":{"2":{"queries":[\#(q)],"resumeToken":"","mood":1}}}}"#,
    ])
  func unknownMember(step: String) {
    let text = Self.file([#"{"waitForPendingWrites":true}"#, step])
    #expect {
      try SpecTest.parse(text, file: "own.json")
    } throws: { error in
      // The file, the place, the test and the step.
      let text = (error as? SpecFormatError)?.description ?? ""
      return text.hasPrefix("own.json:1:") && text.contains(#": test "A test", step 2: "#)
    }
  }

  @Test("A specification test with several clients needs the multi-client tag")
  func severalClients() throws {
    let two = Self.file([]).replacingOccurrences(of: #""numClients":1"#, with: #""numClients":2"#)
    #expect(throws: SpecFormatError.self) { try SpecTest.parse(two, file: "own.json") }
    let tagged = two.replacingOccurrences(of: #""tags":[]"#, with: #""tags":["multi-client"]"#)
    #expect(throws: Never.self) { try SpecTest.parse(tagged, file: "own.json") }
  }

  @Test("Running a timer that is not scheduled runs due work and does not fail")
  func unscheduledTimer() throws {
    let offline =
      #""expectedSnapshotEvents":[{"query":\#(Self.q),"errorCode":0,"fromCache":true,"#
      + #""hasPendingWrites":false}]"#
    let listen = Self.steps[0]

    #expect(try Self.mismatch(Self.file([#"{"runTimer":"client_metadata_refresh"}"#])) == nil)
    // The client has waited for the backend's first answer until now.
    #expect(try Self.mismatch(Self.file([listen, #"{"runTimer":"client_metadata_refresh",\#(offline)}"#])) == nil)
    #expect(try Self.mismatch(Self.file([listen, #"{"runTimer":"online_state_timeout",\#(offline)}"#])) == nil)
  }

  @Test("A listener's target id is compared even while the store fails")
  func targetIDWhileStoreFails() throws {
    func text(_ id: Int) -> String {
      Self.file([
        #"{"failDatabase":["Acknowledge batch"]}"#,
        #"{"userListen":{"query":\#(Self.q),"targetId":\#(id)},"#
          + #""expectedState":{"activeTargets":{"2":{"queries":[\#(Self.q)],"resumeToken":""}}}}"#,
      ])
    }

    #expect(try Self.mismatch(text(2)) == nil)
    #expect(try Self.mismatch(text(4))?.subject == "action")
  }

  @Test(
    "All published specification tests pass, with multi-client tests only on disk",
    .enabled(if: SpecFiles.areThere(for: "the published spec")),
    arguments: [(SpecStorage.memory, 147), (SpecStorage.durable, 211)])
  func published(storage: SpecStorage, count: Int) throws {
    let suite = try SpecSuite(directory: try #require(SpecFiles.directory).appendingPathComponent("sync").path)
    var failures: [String] = []

    let report = suite.run(on: [storage]) { failures.append($0) }

    #expect(report.failed == 0, "\(failures.joined(separator: "\n"))")
    #expect(report.passed == count)
  }
}
