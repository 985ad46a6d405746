// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import CommandOutput
import Dashboard
import DashboardModel
import DatastoreTapping
import FirestoreJSON
import FirestoreModel

/// Prints the messages between a client and a server as lines of text or as JSON, one per line.
package enum MessageReport {
  /// The maximum number of documents that a line names.
  private static let mostNames = 3

  /// - Throws: `badData` for a recording without messages.
  package static func print(_ recording: Recording, asJSON: Bool) throws {
    guard !recording.messages.isEmpty else {
      throw CommandFailure(
        .badData,
        "\(recording.name) has no protocol messages. Record them with 'hearth record FILE --messages'.")
    }
    let output = OutputFile.standard()
    for message in recording.messages {
      if asJSON {
        try output.data(line: message.event.json(JSONContext()).lineText)
      } else {
        let offset = recording.header.configuration.utcOffset
        try output.line(ShownText(sentence(message.event, offset: offset, hasContents: false)))
      }
    }
    try output.flush()
  }

  /// A line such as `12:04:16.120 #1 Listen < documentChange target 2 orders/a, 312 bytes`.
  /// - Parameters:
  ///   - offset: the time zone in seconds east of UTC.
  ///   - hasContents: whether the line ends with the message as protocol JSON.
  package static func sentence(_ event: ProtocolEvent, offset: Int, hasContents: Bool) -> String {
    var words = [event.time.timeOfDay(utcOffset: offset)]
    if let stream = event.stream {
      words.append("#\(stream) \(event.method)")
    } else if let connection = event.connection {
      words.append("connection \(connection)")
    }
    words.append(verb(of: event))
    if let message = event.message, event.kind != .missed {
      words.append(message.kind)
      if !message.targets.isEmpty {
        let noun = message.targets.count == 1 ? "target" : "targets"
        words.append("\(noun) \(message.targets.map(String.init).joined(separator: " "))")
      }
      words.append(subject(of: message))
    }
    words.append(event.remark ?? "")
    return ([words.filter { !$0.isEmpty }.joined(separator: " ")] + details(of: event, hasContents))
      .joined(separator: ", ")
  }

  private static func verb(of event: ProtocolEvent) -> String {
    switch event.kind {
    case .opened: ["opens", event.transport.map { "over \($0.rawValue)" }].compactMap(\.self).joined(separator: " ")
    case .request: ">"
    case .response: "<"
    case .ended: "ends"
    case .fault: "fault:"
    case .connected: "from \(event.address ?? "an unknown address") over"
    case .disconnected: "disconnected"
    case .connection: ""
    case .listening: "listening on \(event.address ?? "")"
    case .faults: "faults:"
    case .missed: "\(counted(event.message?.count ?? 0, "message")) arrived faster than they could be recorded"
    }
  }

  /// The documents, or the collection that is queried, or the document count.
  private static func subject(of message: MessageSummary) -> String {
    if !message.documents.isEmpty {
      let more = message.count - min(message.documents.count, mostNames)
      return message.documents.prefix(mostNames).joined(separator: " ") + (more > 0 ? " and \(grouped(more)) more" : "")
    }
    return message.query ?? (message.count > 0 ? "of \(grouped(message.count))" : "")
  }

  private static func details(of event: ProtocolEvent, _ hasContents: Bool) -> [String] {
    var details: [String] = []
    if let token = event.message?.tokenLength {
      details.append(token > 0 ? "token of \(counted(token, "byte"))" : "no token")
    }
    if let bytes = event.bytes {
      // A tap stores the content of every message except large ones.
      let isLeftOut = event.connection == nil && event.message?.content == nil && bytes > ProtocolEvent.largestContent
      details.append(counted(bytes, "byte") + (isLeftOut ? ", not recorded" : ""))
    }
    if let status = event.status ?? event.message?.cause {
      details.append(status.message.isEmpty ? status.code.name : status.description)
    }
    if let status = event.httpStatus { details.append("HTTP \(status)") }
    if let duration = event.duration { details.append("\(Double(duration.wholeMicroseconds / 100) / 10) ms") }
    if hasContents, let content = event.message?.content?.json { details.append(content.lineText) }
    return details
  }

  private static func counted(_ count: Int, _ noun: String) -> String {
    "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")"
  }
}

extension MessageSummary {
  /// The collection that is queried, in the notation of queries.
  package var query: String? {
    guard let collection, isGroup else { return collection }
    let path = ResourcePath(collection)
    let parent = path.segments.dropLast().joined(separator: "/")
    let group = path.last.isEmpty ? "**" : "**/\(path.last)"
    return parent.isEmpty ? group : "\(parent)/\(group)"
  }
}

extension Session {
  /// An observer of the messages of the session's client; `nil` if messages are not recorded.
  static func tap(for options: Options) -> MessageTap? {
    guard options.recordingFiles.recording?.keepsMessages == true, case .client = options.subject else { return nil }
    return MessageTap { .now }
  }

  /// Writes messages to the recording when they are sent or received, until the task is canceled.
  func followMessages(_ tap: MessageTap) async {
    for await _ in tap.signals { keepMessages() }
  }

  /// Writes the messages that wait in the tap. If the disk is too slow, the messages remain in the tap. The tap counts
  /// the messages that it must drop.
  /// - Parameter isEnd: whether the recording ends. If so, all messages are written.
  func keepMessages(isEnd: Bool = false) {
    guard let tap, isEnd || recorder?.isBehind != true else { return }
    for message in tap.take() where recorded == clientSet.first.number {
      recorder?.note(.message(message), cost: message.cost)
    }
  }
}
