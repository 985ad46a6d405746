// SPDX-License-Identifier: Apache-2.0
package import Dashboard
import FirestoreGRPC
import FirestoreJSON
package import FirestoreModel
package import Foundation
import TerminalCanvas

// Session files are NDJSON. The first line has the dashboard's settings at the start, each other line is one action on
// it, and the last has the reason for the end. Played again, they lead to the same screens. Lines of messages of the
// protocol may stand between them, which change nothing on the screens.

/// The first line.
package struct RecordingHeader: Codable, Sendable {
  static let kind = "session"
  /// The version of the format, which grows when lines change their meaning or get another kind.
  static let currentFormat = 1

  /// The kind of file.
  var hearth = Self.kind
  var format = Self.currentFormat
  /// The version of the program that wrote it.
  var program = Release.version
  package var start: Timestamp
  var size: Size
  package var configuration: DashboardConfiguration
  /// The fields whose values were taken out; `*` stands for all.
  var redacted: [String]?

  /// The state that the recording begins with.
  var initialState: DashboardState { DashboardState(configuration, size: size, now: start) }
}

/// The last line.
package struct RecordingEnd: Codable, Sendable {
  /// The reason in words: `the session ended`.
  var end: String
  var at: Timestamp
}

/// Codes the lines of a recording.
package enum RecordingLine {
  package static func data(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var data = try encoder.encode(value)
    data.append(UInt8(ascii: "\n"))
    return data
  }

  package static func value<Value: Decodable>(_ type: Value.Type, of line: some Sequence<UInt8>) throws -> Value {
    try JSONDecoder().decode(type, from: Data(line))
  }

  /// The reason why a line cannot be decoded, in a few words.
  package static func reason(_ error: any Error) -> String {
    if let error = error as? JSONError {
      return "column \(error.column): " + (error.reason.hasSuffix(".") ? String(error.reason.dropLast()) : error.reason)
    }
    guard let error = error as? DecodingError else { return "\(error)" }
    let context: DecodingError.Context
    switch error {
    case .dataCorrupted(let found): context = found
    case .keyNotFound(_, let found), .typeMismatch(_, let found), .valueNotFound(_, let found): context = found
    @unknown default: return "it cannot be read"
    }
    let place = context.codingPath.map(\.stringValue).joined(separator: ".")
    return (place.isEmpty ? "" : "at \(place): ") + context.debugDescription
  }
}
