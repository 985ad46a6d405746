// SPDX-License-Identifier: Apache-2.0
package import ClientPort
import FirestoreModel

extension FeedRow {
  /// The row of a connection or call that a proxy observed: `#3 Commit`, its document, and `ok, 4.1 ms`.
  package init(_ event: ProtocolEvent) {
    let name = [event.connection.map { "#\($0)" }, event.method.isEmpty ? nil : event.method].compactMap(\.self)
    self.init(
      time: event.time, kind: event.isFailure ? .failed : .call, listenerName: name.joined(separator: " "),
      summary: event.summary)
    guard let message = event.message else { return }
    let path = message.documents.first.map { ResourcePath($0) }
    if let path, path.segments.count.isMultiple(of: 2), message.count <= 1 { key = DocumentKey(unchecked: path) }
  }
}

extension ProtocolEvent {
  fileprivate var isFailure: Bool {
    switch kind {
    case .fault, .connection: true
    case .ended: (httpStatus ?? 0) >= 400 || ![nil, .ok, .cancelled].contains(status?.code)
    default: false
    }
  }

  fileprivate var summary: String {
    switch kind {
    case .connected:
      return ["connected", address.map { "from \($0)" }, remark.map { "over \($0)" }].compactMap(\.self)
        .joined(separator: " ")
    case .disconnected: return "disconnected"
    case .ended: return end
    default: return remark ?? ""
    }
  }

  private var end: String {
    let code = httpStatus.map { "HTTP \($0)" } ?? status?.code.name
    let reason = status.flatMap { $0.message.isEmpty ? nil : $0.message }
    let time = duration.map { "\(Double($0.wholeMicroseconds / 100) / 10) ms" }
    return [subject, code, time, reason].compactMap(\.self).joined(separator: ", ")
  }

  /// The collection, or the first of several documents.
  private var subject: String? {
    guard let message else { return nil }
    if message.count > 1, let first = message.documents.first { return "\(first) and \(message.count - 1) more" }
    return message.documents.isEmpty ? message.collection : nil
  }
}
