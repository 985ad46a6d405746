// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreService
import Synchronization

@testable import FirestoreREST

/// A service over an empty backend in memory at a time that does not pass.
func makeService() throws -> FirestoreService {
  FirestoreService(
    backend: try LocalBackend(
      BackendConfiguration(location: .memory, now: { Timestamp(microseconds: 1_000_000_000) })))
}

/// Asks as a server does.
/// - Returns: the status of HTTP and the body, without line breaks.
func ask(
  _ service: FirestoreService, _ verb: String, _ path: String, _ body: String = ""
) async -> (status: Int, body: String) {
  let target = "/v1/projects/p/databases/(default)/documents\(path)"
  do throws(RPCStatus) {
    let call = try RESTCall(verb, target, body: Array(body.utf8))
    let text = Mutex<[UInt8]>([])
    do {
      try await service.answer(call.method, call.message) { messages in
        try text.withLock { $0 += try call.text(of: messages, isFirst: $0.isEmpty) }
      }
    } catch { throw error as? RPCStatus ?? RPCStatus(.unknown, "\(error)") }
    let answer = text.withLock { $0 + (call.isStream ? call.end(isFirst: $0.isEmpty) : []) }
    return (200, flat(answer))
  } catch { return (error.code.httpStatus, flat(RESTCall.text(of: error, to: target))) }
}

private func flat(_ text: [UInt8]) -> String {
  String(decoding: text.filter { $0 != 0x0A }, as: UTF8.self)
}
