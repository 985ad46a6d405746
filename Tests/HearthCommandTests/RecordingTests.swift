// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import DashboardView
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Foundation
import SeededRandom
import TerminalCanvas
import TerminalTesting
import Testing

@testable import CommandOutput
@testable import DashboardHost
@testable import HearthCommand

@Suite("Recorded sessions")
struct RecordingTests {
  /// A session's file, in memory.
  private static func file(_ session: RandomSession, end: Bool = true) throws -> Data {
    let first = session.initial
    var data = RecordingLine.data(
      RecordingHeader(start: first.now, size: first.size, configuration: first.configuration))
    for action in session.actions { data.append(RecordingLine.data(action)) }
    if end { data.append(RecordingLine.data(RecordingEnd(end: "over", at: session.state.now))) }
    return data
  }

  @Test("A folder in place of a recording is reported as a folder")
  func folder() throws {
    let folder = try TemporaryFolder.made()
    #expect(throws: CommandFailure(.noInput, "\(folder.path) is a directory.")) { try Recording(path: folder.path) }
  }

  @Test("An endless line of a recording is rejected before it fills the memory", arguments: [true, false])
  func endlessLine(hasHeader: Bool) throws {
    let folder = try TemporaryFolder.made()
    let path = folder.path + "/sparse"
    let header = hasHeader ? try Self.file(Self.session(1, steps: 3), end: false) : Data()
    try header.write(to: URL(filePath: path))
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.truncate(atOffset: 10 << 30)
    try file.close()
    let failure = #expect(throws: CommandFailure.self) { try Recording(path: path) }
    #expect(failure?.status == .badData && failure?.message.contains("The line is longer than 32 MiB.") == true)
  }

  private static func session(_ seed: UInt64, steps: Int, secret: Value? = nil) -> RandomSession {
    var session = RandomSession(Size(width: 120, height: 36), seed: seed, secret: secret)
    for _ in 0..<steps { session.step() }
    return session
  }

  @Test("Negative numbers in a recording are read, for example in time zones")
  func negativeNumbers() throws {
    let session = Self.session(1, steps: 1)
    var configuration = session.initial.configuration
    configuration.utcOffset = -18_000
    let mouse = MouseEvent(kind: .release, x: -3, y: -1)
    let data =
      RecordingLine.data(
        RecordingHeader(start: session.initial.now, size: session.initial.size, configuration: configuration))
      + RecordingLine.data(Action.input(.mouse(mouse), at: session.initial.now))
      + RecordingLine.data(RecordingEnd(end: "over", at: session.initial.now))
    let recording = try Recording(data, name: "file")
    #expect(recording.header.configuration.utcOffset == -18_000 && recording.problems.isEmpty)
    guard case .input(.mouse(mouse), _)? = recording.actions.first else {
      Issue.record("\(recording.actions)")
      return
    }
  }

  @Test(
    "Each step of a replay shows the original screen, for random sessions",
    arguments: 1...UInt64(TestSize.count(2, full: 6)))
  func replay(_ seed: UInt64) throws {
    let session = Self.session(seed, steps: 100)
    let recording = try Recording(try Self.file(session), name: "file")
    #expect(recording.problems.isEmpty)
    try #require(recording.actions.count == session.actions.count)
    var (then, now) = (session.initial, recording.header.initialState)
    for (step, (action, recorded)) in zip(session.actions, recording.actions).enumerated() {
      _ = update(&then, action)
      _ = update(&now, recorded)
      guard step % 5 > 0 || view(then) == view(now) else {
        let rows = (0..<then.size.height).filter { view(then).text(row: $0) != view(now).text(row: $0) }
        Issue.record("seed \(seed), step \(step), \(action): rows \(rows)")
        return
      }
    }
    #expect(view(now) == view(session.state))
  }

  @Test("A value round-trips through a recording bit for bit", arguments: 1...20 as ClosedRange<UInt64>)
  func values(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<100 {
      let value = Value.serverTimestamp(
        ServerTimestamp(localWriteTime: random.timestamp(), previous: random.value()))
      let decoded = try RecordingLine.value(Fields.self, of: RecordingLine.data(Fields([("a", value)])))
      #expect(decoded[FieldPath("a")] == value, "seed \(seed)")
    }
    for time in [Timestamp(seconds: .max), Timestamp(seconds: .min, nanoseconds: 5), .earliest, .latest] {
      #expect(try RecordingLine.value(Timestamp.self, of: RecordingLine.data(time)) == time)
    }
  }

  @Test("A recording cut at any byte shows the part before the cut and reports it")
  func truncated() throws {
    let session = Self.session(3, steps: 25)
    let data = try Self.file(session)
    let header = try #require(data.firstIndex(of: UInt8(ascii: "\n")))
    let ends = data.indices.filter { data[$0] == UInt8(ascii: "\n") }
    for length in stride(from: 0, through: data.count - 1, by: 997) + [header, header + 1, data.count - 2] {
      guard let recording = try? Recording(data.prefix(length), name: "file") else {
        #expect(length <= header, "\(length)")
        continue
      }
      let whole = ends.filter { $0 < length }.count - 1
      #expect(recording.actions.count == max(0, whole) || recording.actions.count == whole + 1, "\(length)")
      let told = recording.problems.last?.contains("the recording ends early here") == true
      #expect(told == (recording.end == nil))
    }
  }

  @Test("A file that is not a recording, or is newer, is reported with line and reason")
  func foreign() throws {
    func failure(_ text: String) -> String? {
      do throws(CommandFailure) { _ = try Recording(Data(text.utf8), name: "file") } catch { return error.message }
      return nil
    }
    #expect(failure("") == "file:1: this is not a session that hearth recorded.")
    #expect(failure("{\"version\": 2, \"width\": 80}\n") == "file:1: this is not a session that hearth recorded.")
    let later = failure("{\"hearth\":\"session\",\"format\":7,\"program\":\"9.0\"}\n")
    #expect(later == "file:1: recorded in format 7 by hearth 9.0; this hearth reads format 1. Use that other version.")
    let broken = failure("{\"hearth\":\"session\",\"format\":1,\"program\":\"0.1.0\"}\n")
    #expect(broken?.hasPrefix("file:1: ") == true)
  }

  @Test("A damaged line of a recording is reported and skipped, and the rest is shown")
  func damaged() throws {
    let session = Self.session(4, steps: 10)
    var lines = try Self.file(session).split(separator: UInt8(ascii: "\n")).map { Data($0) }
    lines[2] = Data("{\"client\":{\"_0\":{\"weather\":{}}}}".utf8)
    lines[4] = Data("nonsense".utf8)
    let recording = try Recording(Data(lines.joined(separator: [UInt8(ascii: "\n")])), name: "file")
    #expect(recording.actions.count == session.actions.count - 2)
    #expect(recording.problems.count == 2)
    #expect(recording.problems.first?.hasPrefix("file:3: ") == true)
    #expect(recording.problems.last?.hasPrefix("file:5: ") == true)
  }

  // MARK: Redaction

  @Test(
    "Redaction removes the field's values from the whole file", arguments: ["secret", "all"],
    1...UInt64(TestSize.count(1, full: 3)))
  func redaction(_ fields: String, _ seed: UInt64) throws {
    let secret = "Tr0ub4dor"
    let session = Self.session(seed, steps: 150, secret: .string(secret))
    let plain = String(decoding: try Self.file(session), as: UTF8.self)
    try #require(plain.contains(secret))
    let first = session.initial
    let redactor = RecordingRedactor(
      Redaction(fields), RecordingHeader(start: first.now, size: first.size, configuration: first.configuration))
    var redacted = RecordingLine.data(redactor.header)
    for action in session.actions {
      for action in redactor.redacted(action) { redacted.append(RecordingLine.data(action)) }
    }
    let text = String(decoding: redacted, as: UTF8.self)
    #expect(!text.contains(secret))
    #expect(text.contains("‹string 9›"))
    #expect(text.contains("\"redacted\": [\"\(fields == "all" ? "*" : fields)\"]"))
    // The panes go on.
    let recording = try Recording(redacted, name: "file")
    var state = recording.header.initialState
    for action in recording.actions { _ = update(&state, action) }
    #expect(state.listeners.map(\.tag) == session.state.listeners.map(\.tag))
    #expect(state.hasOverlay == session.state.hasOverlay || session.state.hasOverlay)
  }

  @Test("Redaction removes a typed command that has arguments")
  func typedCommands() {
    let first = Self.session(1, steps: 1).initial
    let redactor = RecordingRedactor(
      Redaction("email"), RecordingHeader(start: first.now, size: first.size, configuration: first.configuration))
    func kept(_ text: String) -> [String] {
      redactor.redacted(.run(text, at: first.now)).compactMap { if case .run(let text, _) = $0 { text } else { nil } }
    }
    #expect(kept("wall") == ["wall"])
    #expect(kept("listen users where email == secret") == [""])
  }

  @Test("Redaction reports the removed fields, and rejects names that did not occur")
  func account() throws {
    let redaction = Redaction("secret,m.n,emial")
    _ = redaction.fields(["secret": 1, "email": "a", "m": .map(["secret": 2])])
    _ = redaction.value(.integer(1), at: FieldPath(segments: ["m", "n"]))
    #expect(redaction.account.text == "the values of m, m.n, n, secret were removed.")
    try redaction.account.check(["secret", "m.n", "*"])
    let failure = #expect(throws: CommandFailure.self) { try redaction.account.check(redaction.names) }
    #expect(failure?.status == .badData && failure?.message.hasSuffix("Did you mean email?") == true)
    #expect(Redaction("a").account.text.hasPrefix("no field values"))
  }

  @Test("Redacted input keeps its length, and a listener that it created keeps its query")
  func typed() throws {
    var session = RandomSession(Size(width: 120, height: 36), seed: 1)
    func press(_ keys: String) {
      for name in keys.split(separator: " ") {
        Key(String(name)).map { session.apply(.input(.key($0), at: session.state.now)) }
      }
    }
    press("4 n u s e r s enter")
    try #require(session.state.listeners.last?.query.path.text == "users")
    press("/ P a s s w 0 r d enter")
    let redactor = RecordingRedactor(
      Redaction("secret"),
      RecordingHeader(
        start: session.initial.now, size: session.initial.size, configuration: session.initial.configuration))
    let actions = session.actions.flatMap(redactor.redacted)
    let typed = actions.compactMap { action in
      if case .input(.key(let key), _) = action { key.typedCharacter } else { nil }
    }
    #expect(String(typed) == "4nxxxxx/xxxxxxxx")
    var state = redactor.header.initialState
    for action in actions { _ = update(&state, action) }
    #expect(state.listeners.last?.query.path.text == "users")
  }

  @Test("Hashed ids are consistent in a file and differ between files")
  func ids() {
    let (one, two) = (Redaction("", hidesIDs: true), Redaction("", hidesIDs: true))
    let key = DocumentKey(unchecked: ResourcePath("users/ada/orders/1"))
    #expect(one.key(key) == one.key(key))
    #expect(one.key(key) != two.key(key))
    #expect(one.key(key).path.segments.count == 4)
    #expect(one.path(ResourcePath("users/ada")).isPrefix(of: one.key(key).path))
    #expect(one.key(key).path.segments[2] == "orders")
  }

  // MARK: Files

  private let recording = TemporaryFolder()

  private static func sink(
    _ path: String, limit: Int = 1 << 20, replaces: Bool = false
  ) throws(CommandFailure) -> LineSink<String> {
    try LineSink(
      path, limit: limit, replaces: replaces, encode: { Data("\($0)\n".utf8) }, last: { Data("end: \($0)\n".utf8) })
  }

  @Test("A recording is private, and no file is overwritten by default")
  func file() async throws {
    let path = recording.path
    let sink = try Self.sink(path)
    try await sink.write(["one", "two"])
    await sink.finish("over")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "one\ntwo\nend: over\n")
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(throws: CommandFailure.self) { try Self.sink(path) }
    #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("one"))
    let again = try Self.sink(path, replaces: true)
    await again.finish("anew")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "end: anew\n")
  }

  @Test("At its size limit a recording ends with a complete line that says so")
  func limit() async throws {
    let path = recording.path
    let sink = try Self.sink(path, limit: 4096)
    let lines = (0..<500).map { "line \($0)" }
    await #expect(throws: LineSink<String>.Ended(reason: "it has reached its limit of 4 KB")) {
      try await sink.write(lines)
    }
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.utf8.count <= 4096)
    #expect(text.utf8.count > 3000)
    #expect(text.hasSuffix("\nend: it has reached its limit of 4 KB\n"))
    // What comes later changes nothing.
    try await sink.write(["more"])
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
  }

  @Test("A full disk ends a recording with one message, and the session continues")
  @MainActor func full() async throws {
    var reasons: [String] = []
    let recorder = FileRecorder("/dev/full", try Self.sink("/dev/full", replaces: true)) { reasons.append($0) }
    recorder.note("one", cost: 1)
    recorder.note("two", cost: 1)
    await recorder.finish("over")
    recorder.note("three", cost: 1)
    await recorder.finish("over")
    #expect(reasons == ["No space left on device"])
  }

  @Test("Recorded data that waits for a slow disk is limited")
  @MainActor func slow() async throws {
    let path = recording.path
    var reasons: [String] = []
    let recorder = FileRecorder(path, try Self.sink(path)) { reasons.append($0) }
    for _ in 0..<40 { recorder.note("line", cost: 1 << 20) }
    await recorder.finish("over")
    #expect(reasons == ["the disk is slower than the events"])
  }

  @Test("A cast has a header and a line for each frame and resize")
  func cast() throws {
    let items: [Cast.Item] = [
      .header(Size(width: 80, height: 24), Date(timeIntervalSince1970: 1_772_452_800)),
      .frame(seconds: 0.000_012, Array("\u{1B}[2J\"é\r\n".utf8)), .resize(seconds: 61.5, Size(width: 40, height: 12)),
    ]
    let lines = items.map { String(decoding: $0.line, as: UTF8.self) }
    #expect(
      lines[0].contains("\"height\": 24") && lines[0].contains("\"version\": 2")
        && lines[0].contains("\"title\": \"hearth\""))
    #expect(lines[1] == "[0.000012, \"o\", \"\\u001b[2J\\\"é\\r\\n\"]\n")
    #expect(lines[2] == "[61.500000, \"r\", \"40x12\"]\n")
  }

  @Test("Sizes are parsed in human-readable form")
  func sizes() {
    #expect(ByteCountText.parse("64MB") == 64 << 20)
    #expect(ByteCountText.parse("5 kb") == 5 << 10)
    #expect(ByteCountText.parse("4096") == 4096)
    for text in ["", "MB", "-3MB", "0", "much"] { #expect(ByteCountText.parse(text) == nil) }
    #expect(ByteCountText.text(64 << 20) == "64 MB")
  }
}
