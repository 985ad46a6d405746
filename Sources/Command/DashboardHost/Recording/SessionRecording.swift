// SPDX-License-Identifier: Apache-2.0
import CommandOutput
package import Dashboard
import DashboardModel
package import DatastoreTapping
import FirestoreModel
import Foundation

/// A file that a session is recorded to.
package struct RecordingRequest: Sendable {
  package static let standardLimit = 64 << 20

  var path: String
  /// The largest size of the file, in bytes.
  var limit: Int
  var replaces: Bool
  /// Whether the messages between the client and its datastore are kept too.
  var keepsMessages: Bool
  /// The redaction of the recording; `nil` for none.
  var redaction: Redaction?

  package init(
    path: String, limit: Int = Self.standardLimit, replaces: Bool = false, keepsMessages: Bool = false,
    redaction: Redaction? = nil
  ) {
    self.path = path
    self.limit = limit
    self.replaces = replaces
    self.keepsMessages = keepsMessages
    self.redaction = redaction
  }
}

/// An item of the file.
package enum RecordedItem: Sendable {
  case header(RecordingHeader)
  case action(Action)
  case message(TappedMessage)
}

extension FileRecorder where Item == RecordedItem {
  /// - Throws: a one-line failure for a file that cannot be created.
  convenience init(
    _ request: RecordingRequest, _ header: RecordingHeader, ended: @escaping @MainActor (String) -> Void
  ) throws(CommandFailure) {
    var header = header
    let redaction = request.redaction
    header.redacted = redaction?.names
    let redactor = redaction.map { RecordingRedactor($0, header) }
    let sink = try LineSink<RecordedItem>(request.path, limit: request.limit, replaces: request.replaces) { item in
      switch item {
      case .header(let header): return try RecordingLine.data(header)
      case .action(let action):
        guard let redactor else { return try RecordingLine.data(action.withoutRepetition) }
        return try redactor.redacted(action.withoutRepetition).reduce(into: Data()) { data, action in
          data.append(try RecordingLine.data(action))
        }
      case .message(let message):
        let line = MessageLine(message)
        return Data(((redactor?.redacted(line) ?? line).text + "\n").utf8)
      }
    } last: { reason in
      try RecordingLine.data(RecordingEnd(end: reason, at: .now))
    }
    self.init(request.path, sink, ended: ended)
    note(.header(redactor?.header ?? header), cost: 512)
  }
}
