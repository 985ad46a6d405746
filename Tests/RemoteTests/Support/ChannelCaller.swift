// SPDX-License-Identifier: Apache-2.0
import FirestoreGRPC
import Foundation
import Testing

/// Requests of WebChannel, as a browser makes them.
enum ChannelCaller {
  static func ask(
    _ verb: String, _ method: String, _ query: String, _ messages: [String] = [], from offset: Int = 0,
    at server: FirestoreGRPC.Endpoint
  ) async throws -> String {
    let fields = messages.enumerated().map { index, message in
      "&req\(index)___data__=" + (message.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
    }
    let body = verb == "GET" ? "" : "count=\(messages.count)&ofs=\(offset)\(fields.joined())"
    let answer = try await RawHTTP.exchange(
      "\(verb) /google.firestore.v1.Firestore/\(method)/channel?VER=8&\(query) HTTP/1.1\r\nHost: localhost\r\n"
        + "Connection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)", server)
    return try #require(RawHTTP.bodies(answer).first)
  }

  static func open(_ method: String, _ message: String, at server: FirestoreGRPC.Endpoint) async throws -> String {
    let greeting = try await ask("POST", method, "RID=1&CVER=22", [message], at: server)
    return String(try #require(greeting.split(separator: "\"").dropFirst(3).first))
  }

  /// The numbered messages of one frame.
  static func arrays(_ frame: String) throws -> [(number: Int, message: [String: Any])] {
    let text = frame.drop { $0 != "\n" }
    let arrays = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[Any]])
    return try arrays.map { array in
      (try #require(array.first as? Int), (array.last as? [Any])?.first as? [String: Any] ?? [:])
    }
  }
}
