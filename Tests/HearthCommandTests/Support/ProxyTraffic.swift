// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The lines that a proxy prints of clients and a server.
enum ProxyTraffic {
  static let root = "projects/p/databases/(default)"

  /// A line of the proxy, a second after the one before.
  static func lines(_ events: [(event: String, connection: Int, stream: Int, method: String, rest: String)]) -> Data {
    let lines = events.enumerated().map { second, line in
      """
      {"at": "2026-01-01T00:00:\(second < 10 ? "0" : "")\(second)Z", "event": "\(line.event)", "connection": \
      \(line.connection), "stream": \(line.stream), "method": "\(line.method)"\(line.rest.isEmpty ? "" : ", \(line.rest)")}
      """
    }
    return Data(
      (#"{"at": "2026-01-01T00:00:00Z", "event": "listening", "address": "a"}"# + "\n" + lines.joined(separator: "\n")
        + "\n").utf8)
  }

  static func content(_ json: String) -> String { "\"content\": \(json)" }

  static var listen: String {
    content(
      """
      {"database": "\(root)", "addTarget": {"targetId": 2, "query": {"parent": "\(root)/documents", \
      "structuredQuery": {"from": [{"collectionId": "cities"}]}}}}
      """)
  }

  static func document(_ id: String, _ n: Int) -> String {
    content(
      """
      {"documentChange": {"targetIds": [2], "document": {"name": "\(root)/documents/cities/\(id)", "fields": \
      {"n": {"integerValue": "\(n)"}}, "createTime": "2026-01-01T00:00:00Z", "updateTime": "2026-01-01T00:00:00Z"}}}
      """)
  }

  static func commit(_ id: String, _ n: Int) -> String {
    content(
      """
      {"database": "\(root)", "writes": [{"update": {"name": "\(root)/documents/cities/\(id)", "fields": \
      {"n": {"integerValue": "\(n)"}}}}]}
      """)
  }

  static let current =
    #""content": {"targetChange": {"targetChangeType": "CURRENT", "targetIds": [2], "resumeToken": "AA=="}}"#
  static let moment = #""content": {"targetChange": {"readTime": "2026-01-01T00:00:01Z", "resumeToken": "AA=="}}"#
}
