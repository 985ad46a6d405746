// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Dashboard
import DashboardModel
package import DatastoreTapping
import FirestoreJSON
import FirestoreModel

/// The messages of a recording as lines: for people, or as JSON.
package enum MessageReport {
  /// The number of documents that a line names.
  private static let mostNames = 3

  /// - Throws: `bad-data` for a recording without messages.
  package static func print(_ recording: Recording, asJSON: Bool) throws {
    guard !recording.messages.isEmpty else {
      throw CommandFailure(
        .badData,
        "\(recording.name) has no messages of the protocol: 'hearth record FILE --messages' keeps them.")
    }
    let output = OutputFile.standard()
    for message in recording.messages {
      if asJSON {
        try output.data(line: message.line.object.lineText)
      } else {
        try output.line(ShownText(sentence(message.line, offset: recording.header.configuration.utcOffset)))
      }
    }
    try output.flush()
  }

  /// A line such as `12:04:16.120 listen 1 < documentChange target 2 orders/a, 312 bytes`.
  /// - Parameter offset: seconds east of UTC.
  package static func sentence(_ message: MessageLine, offset: Int) -> String {
    let clock = TimeText.milliseconds(message.time, offset: offset, from: .hours)
    if message.event == .missed {
      return "\(clock) \(counted(message.count, "message")) came faster than they could be kept"
    }
    let sign: String =
      switch message.event {
      case .begun: "begins"
      case .sent: ">"
      case .received: "<"
      case .ended: "ends"
      case .missed: ""
      }
    var words = ["\(clock) \(message.channel.rawValue) \(message.number) \(sign)"]
    if !message.kind.isEmpty { words.append(message.kind) }
    if !message.targets.isEmpty {
      words.append(
        "target\(message.targets.count == 1 ? "" : "s") \(message.targets.map(String.init).joined(separator: " "))")
    }
    if let subject = subject(of: message) { words.append(subject) }
    return ([words.joined(separator: " ")] + details(of: message)).joined(separator: ", ")
  }

  /// The documents, the number of what there is, or what a query asks for.
  private static func subject(of message: MessageLine) -> String? {
    if !message.documents.isEmpty {
      let more = message.count - min(message.documents.count, mostNames)
      return message.documents.prefix(mostNames).joined(separator: " ") + (more > 0 ? " and \(grouped(more)) more" : "")
    }
    if let content = message.content, let query = query(in: content) { return query }
    return message.count > 0 ? "of \(grouped(message.count))" : nil
  }

  private static func details(of message: MessageLine) -> [String] {
    var details: [String] = []
    if let token = message.tokenLength, token > 0 { details.append("token of \(counted(token, "byte"))") }
    if let bytes = message.byteCount {
      let isLeftOut = message.content == nil && bytes > TappedMessage.largestContent
      details.append(counted(bytes, "byte") + (isLeftOut ? ", not kept" : ""))
    }
    if let status = message.status { details.append(status.description) }
    return details
  }

  /// The collection that a request asks for.
  private static func query(in content: JSONSyntax) -> String? {
    let holder = content["addTarget"]?["query"] ?? content["structuredAggregationQuery"] ?? content
    guard case .array(let sources)? = holder["structuredQuery"]?["from"]?.kind, let source = sources.first else {
      return nil
    }
    let id = source["collectionId"].flatMap(text) ?? ""
    let parent = (content["addTarget"]?["query"]?["parent"] ?? content["parent"]).flatMap(text) ?? ""
    let above = parent.firstRange(of: "/documents/").map { parent[$0.upperBound...] + "/" } ?? ""
    guard case .boolean(true)? = source["allDescendants"]?.kind else { return above + id }
    return id.isEmpty ? "\(above)**" : "\(above)**/\(id)"
  }

  private static func text(_ json: JSONSyntax) -> String? {
    if case .string(let text) = json.kind { text } else { nil }
  }

  private static func counted(_ count: Int, _ noun: String) -> String {
    "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")"
  }
}

extension Session {
  /// A tap for the messages of the session's client; `nil` where none are kept.
  static func tap(for options: Options) -> MessageTap? {
    guard options.keeping.recording?.keepsMessages == true, case .client = options.subject else { return nil }
    return MessageTap { .now }
  }

  /// Writes messages to the recording as they pass by, until cancelled.
  func followMessages(_ tap: MessageTap) async {
    for await _ in tap.signals { keepMessages() }
  }

  /// Writes the messages that wait, unless the file is behind: then they go on waiting, and those that do not fit there are
  /// counted.
  /// - Parameter isEnd: whether no more will come, so that all are written.
  func keepMessages(isEnd: Bool = false) {
    guard let tap, isEnd || recorder?.isBehind != true else { return }
    for message in tap.take() where recorded == stage.first.number {
      recorder?.note(.message(message), cost: message.cost)
    }
  }
}
