// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import CommandOutput
package import Dashboard
import DashboardModel
import FirestoreGRPC
package import FirestoreJSON
package import FirestoreModel
package import Foundation
import TerminalCanvas

/// A recorded session, read from its file.
package struct Recording: Sendable {
  /// The maximum size of a file in bytes.
  private static let limit = 2 << 30
  /// The maximum size of a line in bytes.
  private static let lineLimit = 32 << 20

  package let name: String
  package let header: RecordingHeader
  package private(set) var actions: [Action] = []
  /// The messages between the client and its datastore, if they were recorded.
  package private(set) var messages: [Message] = []
  /// The reason why the recording ended; `nil` if the file is incomplete.
  package private(set) var end: RecordingEnd?
  /// The lines that could not be parsed, and other remarks for the user.
  package private(set) var problems: [String] = []

  /// The first line whose time is more than `clockSlack` before the time of an earlier line; `nil` if there is none.
  package private(set) var outOfOrder: (line: Int, by: Duration)?
  /// An event may have an earlier time than the previous event by at most this much. A larger difference means that the
  /// clock was set back, or that lines are in the wrong order.
  package static let clockSlack = Duration.seconds(1)

  package struct Message: Sendable {
    /// The number of actions before the message.
    package var place: Int
    package var event: ProtocolEvent
  }

  /// - Parameter path: `-` for standard input.
  package init(path: String) throws(CommandFailure) {
    let (data, name) = try Self.data(path: path)
    try self.init(data, name: name)
  }

  /// The whole contents of a file, and the file's name in messages.
  /// - Parameter path: `-` for standard input.
  package static func data(path: String) throws(CommandFailure) -> (Data, String) {
    let name = path == "-" ? "standard input" : path
    let handle = path == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: path)
    guard let handle else {
      throw CommandFailure(.noInput, "\(path) cannot be read: \(String(cString: strerror(errno))).")
    }
    var isDirectory: ObjCBool = false
    if path != "-", FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue {
      throw CommandFailure(.noInput, "\(path) is a directory.")
    }
    var (data, line) = (Data(), 1)
    var lineStart = data.startIndex
    while true {
      let piece: Data?
      do { piece = try handle.read(upToCount: 1 << 20) } catch {
        throw CommandFailure(.noInput, "\(name) cannot be read: \(error.localizedDescription)")
      }
      guard let piece, !piece.isEmpty else { return (data, name) }
      if let end = piece.lastIndex(of: UInt8(ascii: "\n")) {
        line += piece.count { $0 == UInt8(ascii: "\n") }
        lineStart = data.count + piece.distance(from: piece.startIndex, to: end) + 1
      }
      data.append(piece)
      if data.count - lineStart > lineLimit {
        throw CommandFailure(.badData, "\(name):\(line): The line is longer than \(lineLimit >> 20) MiB.")
      }
      if data.count > limit {
        throw CommandFailure(.badData, "\(name) is larger than the limit of \(limit >> 30) GiB.")
      }
    }
  }

  /// - Throws: `badData` for a file that is not a recording. If a recording is damaged, all its readable parts are
  ///   used.
  package init(_ data: Data, name: String) throws(CommandFailure) {
    self.name = name
    let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    header = try Self.header(of: lines.first ?? Data(), name)
    if header.program != Release.version {
      problems.append(
        "\(name) was recorded by hearth \(header.program); this is \(Release.version), which may "
          + "draw it differently.")
    }
    read(lines.dropFirst())
  }

  private static func header(of line: Data, _ name: String) throws(CommandFailure) -> RecordingHeader {
    // The message below describes the problem better than the parser's error.
    guard let kind = try? RecordingLine.value(RecordingKind.self, of: line), kind.hearth == RecordingHeader.kind else {
      throw CommandFailure(.badData, "\(name):1: this is not a session that hearth recorded.")
    }
    guard kind.format == RecordingHeader.currentFormat else {
      throw CommandFailure(
        .badData,
        "\(name):1: recorded in format \(kind.format) by hearth \(kind.program ?? "?"); this hearth reads format "
          + "\(RecordingHeader.currentFormat). Use that other version.")
    }
    do throws(JSONError) { return try RecordingLine.value(RecordingHeader.self, of: line) } catch {
      throw CommandFailure(.badData, "\(name):1: \(RecordingLine.reason(error)).")
    }
  }

  private mutating func read(_ lines: ArraySlice<Data>) {
    let ending = Data(#"{"end":"#.utf8)
    let message = Data(RecordedMessage.prefix.utf8)
    var damaged: [String] = []
    var isWhole = true
    var latest: Timestamp?
    for (index, line) in lines.enumerated() where !line.isEmpty {
      // An invalid last line is read as an action, so that its error is reported.
      if line.starts(with: ending), let end = try? RecordingLine.value(RecordingEnd.self, of: line) {
        self.end = end
        continue
      }
      do throws(JSONError) {
        if line.starts(with: message) {
          let read = try RecordingLine.value(RecordedMessage.self, of: line, numbers: .ofAnySize)
          messages.append(Message(place: actions.count, event: read.event))
        } else {
          let action = try RecordingLine.value(Action.self, of: line)
          actions.append(action)
          let distance = latest.map { Duration.milliseconds($0.milliseconds(since: action.time)) } ?? .zero
          if distance > Self.clockSlack, outOfOrder == nil { outOfOrder = (index + 2, distance) }
          latest = max(latest ?? action.time, action.time)
        }
      } catch {
        isWhole = index < lines.count - 1
        if isWhole { damaged.append("\(name):\(index + 2): \(RecordingLine.reason(error)); line ignored.") }
      }
    }
    problems += damaged.prefix(3)
    if damaged.count > 3 { problems.append("\(name): \(damaged.count - 3) more lines cannot be read.") }
    if end == nil {
      problems.append(
        "\(name):\(actions.count + messages.count + damaged.count + 1): the recording ends early here; earlier events are shown."
      )
    }
  }
}

// Session files are NDJSON. The first line has the dashboard's settings at the start, each following line is one
// action, and the last line has the reason for the end. A replay of the actions shows the same screens. Between them
// there can be lines with protocol messages, which do not affect the screens.

/// The first line of a recording.
package struct RecordingHeader: Sendable {
  static let kind = "session"
  /// The version of the format. It increases if a new kind of line is added or the meaning of a line changes.
  static let currentFormat = 1

  /// Identifies the kind of the file.
  var hearth = Self.kind
  var format = Self.currentFormat
  /// The version of the program that wrote the file.
  var program = Release.version
  package var start: Timestamp
  var size: Size
  package var configuration: DashboardConfiguration
  /// The fields whose values were removed. `*` means all fields.
  var redacted: [String]?

  /// The state at the start of the recording.
  var initialState: DashboardState { DashboardState(configuration, size: size, now: start) }
}

/// The members of the first line that exist in all versions of the format.
private struct RecordingKind: JSONRecord {
  var hearth: String
  var format: Int
  var program: String?

  static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    RecordingKind(
      hearth: try form.word("hearth", it?.hearth), format: try form("format", it?.format),
      program: try form.optionalWord("program", it?.program))
  }
}

/// The last line of a recording.
package struct RecordingEnd: Sendable {
  /// The reason as text: `the session ended`.
  var end: String
  var at: Timestamp
}

/// A protocol message as a line of a recording.
struct RecordedMessage: JSONRecord {
  /// The beginning of a line with a protocol message.
  static let prefix = #"{"message":"#

  var event: ProtocolEvent

  static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    RecordedMessage(event: try form("message", it?.event))
  }
}

/// Parsing of lines in a recording.
package enum RecordingLine {
  package static func data(_ value: some JSONFormed, redaction: Redaction? = nil) -> Data {
    Data((value.json(JSONContext(redaction: redaction)).lineText + "\n").utf8)
  }

  package static func value<Value: JSONFormed>(
    _ type: Value.Type, of line: some Sequence<UInt8>, numbers: JSONSyntax.Numbers = .exact
  ) throws(JSONError) -> Value {
    try Value(
      json: try JSONSyntax(parsing: String(decoding: Array(line), as: UTF8.self), numbers: numbers), JSONContext())
  }

  /// The reason why a line is invalid, in a few words.
  package static func reason(_ error: JSONError) -> String {
    "column \(error.column): " + (error.reason.hasSuffix(".") ? String(error.reason.dropLast()) : error.reason)
  }
}

extension RecordingHeader: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    RecordingHeader(
      hearth: try form.word("hearth", it?.hearth), format: try form("format", it?.format),
      program: try form.word("program", it?.program), start: try form("start", it?.start),
      size: try form("size", it?.size),
      configuration: try form("configuration", it?.configuration),
      redacted: try form.optional("redacted", it?.redacted.map { RedactedFields(names: $0) })?.names)
  }

  /// The names of the fields whose values were removed.
  private struct RedactedFields: JSONFormed {
    var names: [String]

    init(names: [String]) { self.names = names }
    func json(_ context: JSONContext) -> JSONSyntax { JSONSyntax(.array(names.map { JSONSyntax(.string($0)) })) }

    init(json: JSONSyntax, _ context: JSONContext) throws(JSONError) {
      guard case .array(let elements) = json.kind else { throw json.error("Expected a list of names.") }
      names = try elements.map { element throws(JSONError) in try element.text() }
    }
  }
}

extension RecordingEnd: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    RecordingEnd(end: try form.word("end", it?.end), at: try form("at", it?.at))
  }
}
