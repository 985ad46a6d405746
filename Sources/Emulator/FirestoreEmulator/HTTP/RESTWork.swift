// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreREST
import FirestoreServer
import FirestoreService
import Synchronization

/// Serves one REST request in a task, off the connections' thread but for the work of the backend.
struct RESTWork: Sendable {
  /// The part of the work that has been done before.
  enum Start: Sendable {
    /// The request's body has been received.
    case request([UInt8])
    case call(RESTCall)
    /// The service has answered.
    case messages(RESTCall, [[UInt8]])
  }

  enum Piece: Sendable {
    case part(HTTPAnswer)
    /// The last piece, or the only one.
    case last(HTTPAnswer)
  }

  private let service: FirestoreService
  private let request: PlainRequest
  private let budget: ConnectionBudget

  init(_ service: FirestoreService, _ request: PlainRequest, _ budget: ConnectionBudget) {
    self.service = service
    self.request = request
    self.budget = budget
  }

  /// - Parameter send: suspends while the client does not read.
  /// - Throws: `RPCStatus`, or the error that `send` threw.
  func run(_ start: Start, to send: @escaping @Sendable (Piece) async throws -> Void) async throws {
    let call: RESTCall
    switch start {
    case .messages(let call, let messages): return try await send(.last(Self.answer(call, messages, to: request)))
    case .request(let body): call = try RESTCall(request.method, request.target, body: body)
    case .call(let ready): call = ready
    }
    let service = service.isRestricted ? try service.serving(as: request.authorization) : service
    let beginning = Beginning()
    let origin = request.origin
    // The messages that are being sent are held besides the documents.
    let held = HeldBytes(budget, factor: 2)
    defer { held.replace(0) }
    let turn = try await budget.turn(reserving: 2 * call.method.firstBytes)
    try await service.counting(held.replace).answer(call.method, call.message) { messages in
      if !call.isStream { return try await send(.last(Self.answer(call, messages, to: request))) }
      let text = try call.text(of: messages, isFirst: beginning.isNow())
      turn.end()
      try await send(.part(HTTPAnswer(streaming: text).allowing(origin)))
    }
    if call.isStream {
      try await send(.last(HTTPAnswer(streaming: call.end(isFirst: beginning.isNow())).allowing(origin)))
    }
  }

  /// An answer whose messages are all there.
  static func answer(
    _ call: RESTCall, _ messages: [[UInt8]], to request: PlainRequest
  ) throws(RPCStatus) -> HTTPAnswer {
    let text = try call.text(of: messages, isFirst: true)
    let end = call.isStream ? call.end(isFirst: messages.isEmpty) : []
    return HTTPAnswer(200, json: text + end).allowing(request.origin)
  }
}

/// The one moment at which an answer begins.
private final class Beginning: Sendable {
  private let isOver = Atomic(false)

  /// Whether the answer begins now: true once.
  func isNow() -> Bool { !isOver.exchange(true, ordering: .relaxed) }
}
