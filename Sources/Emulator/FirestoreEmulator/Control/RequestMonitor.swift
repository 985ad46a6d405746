// SPDX-License-Identifier: Apache-2.0
import FirestoreAccess
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreRules
import FirestoreService
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Sends the requests that rules have decided on to a client, over a WebSocket at `/requests`. The latest requests are
/// sent first, in one message, and then each new request. Requests are omitted while the client does not read.
final class RequestMonitor: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  static let path = "/requests"

  private let rules: AccessRules
  private var number: Int?

  init(_ rules: AccessRules) { self.rules = rules }

  /// Upgrades a connection to a WebSocket on request.
  /// - Parameter send: writes the response head and removes the HTTP handlers.
  /// - Returns: a future that fails if the request is invalid; the connection is then unchanged.
  static func upgrade(
    _ context: ChannelHandlerContext, _ head: HTTPRequestHead, _ rules: AccessRules,
    send: @escaping (HTTPResponseHead) -> EventLoopFuture<Void>
  ) -> EventLoopFuture<Void> {
    let loop = context.eventLoop
    let bound = NIOLoopBound(rules, eventLoop: loop)
    let upgrader = NIOWebSocketServerUpgrader(
      maxFrameSize: 1 << 14, automaticErrorHandling: true,
      shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(RequestMonitor(bound.value))
        }
      })
    let boundContext = NIOLoopBound(context, eventLoop: loop)
    let boundSend = NIOLoopBound(send, eventLoop: loop)
    let boundUpgrader = NIOLoopBound(upgrader, eventLoop: loop)
    return upgrader.buildUpgradeResponse(channel: context.channel, upgradeRequest: head, initialResponseHeaders: [:])
      .flatMap { headers in
        var headers = headers
        headers.replaceOrAdd(name: "connection", value: "upgrade")
        headers.replaceOrAdd(name: "upgrade", value: "websocket")
        let answer = HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: headers)
        return boundSend.value(answer).flatMap {
          boundUpgrader.value.upgrade(context: boundContext.value, upgradeRequest: head)
        }
      }
  }

  func handlerAdded(context: ChannelHandlerContext) {
    let (loop, bound) = (context.eventLoop, NIOLoopBound((self, context), eventLoop: context.eventLoop))
    let (past, number) = rules.watch { evaluation in
      loop.execute { bound.value.0.tell([evaluation], bound.value.1) }
    }
    self.number = number
    tell(past, context)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    if let number { rules.endWatch(number) }
    number = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .ping: send(.pong, frame.unmaskedData, context)
    case .connectionClose:
      send(.connectionClose, frame.unmaskedData, context)
      context.close(promise: nil)
    default: break
    }
  }

  private func tell(_ evaluations: [RulesEvaluation], _ context: ChannelHandlerContext) {
    guard number != nil, !evaluations.isEmpty, context.channel.isWritable else { return }
    let texts = evaluations.map { MonitoredRequest.json($0).lineText }
    // Several decisions are sent as a list.
    let text = evaluations.count == 1 ? texts[0] : "[\(texts.joined(separator: ","))]"
    send(.text, ByteBuffer(string: text), context)
  }

  private func send(_ opcode: WebSocketOpcode, _ data: ByteBuffer, _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, data: data)), promise: nil)
  }
}

/// A request that rules have decided on, in the format of the emulator's monitor (PROTOCOL §5.2).
enum MonitoredRequest {
  static func json(_ evaluation: RulesEvaluation) -> JSONSyntax {
    let (request, verdict) = (evaluation.request, evaluation.verdict)
    let time = JSONSyntax(.string(request.time.rfc3339Text))
    return object([
      ("requestId", text("request-\(evaluation.number)")),
      ("rules", text(evaluation.files.map(\.content).joined(separator: "\n"))),
      ("time", time),
      (
        "rulesContext",
        object([
          ("path", text("/" + path(request).joined(separator: "/"))),
          ("request", self.request(request)),
          ("method", text(request.method.rawValue)),
          ("resource", resource(request.resource, in: request.database)),
          ("time", time),
        ])
      ),
      ("granularAllowOutcomes", JSONSyntax(.array(verdict.outcomes.map(outcome)))),
      ("outcome", text(verdict.isAllowed ? "allow" : "deny")),
      // Google's emulator does not send the following members.
      ("milliseconds", DecisionJSON.milliseconds(of: evaluation)),
      ("statements", DecisionJSON.statements(of: evaluation)),
    ])
  }

  private static func path(_ request: RulesRequest) -> [String] {
    ["databases", request.database.database, "documents"]
      + request.path.text.split(separator: "/").map(String.init) + (request.method == .list ? ["*"] : [])
  }

  private static func request(_ request: RulesRequest) -> JSONSyntax {
    var members = [
      ("method", RulesValueJSON.of(.string(request.method.rawValue))),
      ("path", RulesValueJSON.path(path(request))),
      ("time", RulesValueJSON.of(.timestamp(request.time))),
      (
        "auth",
        request.user.map { user in
          RulesValueJSON.of(.map(["uid": .string(user.uid), "token": .map(user.claims)]))
        } ?? RulesValueJSON.of(.null)
      ),
    ]
    if request.method == .create || request.method == .update {
      members.append(("resource", resource(request.newResource, in: request.database)))
    }
    if let query = request.query {
      let order = query.explicitOrderBy.map { order in
        (order.path.canonicalText, RulesValueJSON.of(.string(order.direction == .descending ? "DESC" : "ASC")))
      }
      let limit = query.target.limit.map { Value.integer(Int64($0)) } ?? .null
      members.append(
        (
          "query",
          RulesValueJSON.map([
            ("limit", RulesValueJSON.of(limit)), ("offset", RulesValueJSON.of(.integer(Int64(query.offset)))),
            ("orderBy", RulesValueJSON.map(order)),
          ])
        ))
    }
    return RulesValueJSON.map(members)
  }

  private static func resource(_ document: Document?, in database: DatabaseID) -> JSONSyntax {
    guard let document, let fields = document.data?.fields else { return object([("undefined", object([]))]) }
    return RulesValueJSON.map([
      ("data", RulesValueJSON.of(.map(fields))), ("id", RulesValueJSON.of(.string(document.key.documentID))),
      ("__name__", RulesValueJSON.of(.reference(database, document.key))),
    ])
  }

  private static func outcome(_ outcome: RulesOutcome) -> JSONSyntax {
    let result: JSONSyntax =
      switch outcome.result {
      case .isTrue: JSONSyntax(.boolean(true))
      case .isFalse: JSONSyntax(.boolean(false))
      case .failed(let message, let line, let column): text("\(message) (L\(line):\(column))")
      }
    return object([("line", JSONSyntax(.integer(Int64(outcome.line)))), ("outcome", result)])
  }

  private static func text(_ text: String) -> JSONSyntax { JSONSyntax(.string(text)) }

  private static func object(_ members: [(String, JSONSyntax)]) -> JSONSyntax {
    JSONSyntax(.object(members.map { JSONSyntax.Member($0.0, $0.1) }))
  }
}

/// The duration of a decision and the values of its statements, for `…:requests` and the monitor.
enum DecisionJSON {
  /// The maximum number of reported statements; the last ones are reported. A query with many alternatives can evaluate
  /// more.
  private static let mostStatements = 8

  /// The duration in milliseconds with three decimals.
  static func milliseconds(of evaluation: RulesEvaluation) -> JSONSyntax {
    JSONSyntax(.double((evaluation.time / .microseconds(1)).rounded() / 1000))
  }

  /// The statements in the order of evaluation: line, text, result, and the known values of their parts.
  static func statements(of evaluation: RulesEvaluation) -> JSONSyntax {
    JSONSyntax(
      .array(
        evaluation.verdict.outcomes.suffix(mostStatements).map { outcome in
          var members = [("line", JSONSyntax(.integer(Int64(outcome.line))))]
          if let statement = evaluation.statement(of: outcome) { members.append(("text", text(statement))) }
          switch outcome.result {
          case .isTrue: members.append(("result", text("true")))
          case .isFalse: members.append(("result", text("false")))
          case .failed(let message, _, _): members += [("result", text("error")), ("message", text(message))]
          }
          members.append(("values", JSONSyntax(.array(outcome.values.map(value)))))
          return object(members)
        }))
  }

  private static func value(_ seen: SeenValue) -> JSONSyntax {
    object([("expression", text(seen.expression)), (seen.isFailure ? "error" : "value", text(seen.value))])
  }

  private static func text(_ text: String) -> JSONSyntax { JSONSyntax(.string(text)) }

  private static func object(_ members: [(String, JSONSyntax)]) -> JSONSyntax {
    JSONSyntax(.object(members.map { JSONSyntax.Member($0.0, $0.1) }))
  }
}

/// Values in the emulator's format for rules: as in REST, but with `boolValue`, `intValue`, `listValue`, and paths in
/// segments.
enum RulesValueJSON {
  static func of(_ value: Value) -> JSONSyntax {
    switch value {
    case .null: member("nullValue", JSONSyntax(.null))
    case .boolean(let value): member("boolValue", JSONSyntax(.boolean(value)))
    case .integer(let value): member("intValue", JSONSyntax(.string(String(value))))
    case .double(let value): member("floatValue", double(value))
    case .timestamp(let time): member("timestampValue", JSONSyntax(.string(time.rfc3339Text)))
    case .string(let text): member("stringValue", JSONSyntax(.string(text)))
    case .bytes(let bytes): member("bytesValue", JSONSyntax(.string(Base64.encode(bytes))))
    case .reference(let database, let key):
      path(["databases", database.database, "documents"] + key.path.text.split(separator: "/").map(String.init))
    case .geoPoint(let point):
      member(
        "latlngValue",
        JSONSyntax(
          .object([
            JSONSyntax.Member("latitude", double(point.latitude)),
            JSONSyntax.Member("longitude", double(point.longitude)),
          ])))
    case .array(let elements):
      member("listValue", member("values", JSONSyntax(.array(elements.map(of)))))
    case .vector(let elements): of(.array(elements.map { .double($0) }))
    case .map(let fields): map(fields.entries.map { ($0.name, of($0.value)) })
    default: member("undefined", JSONSyntax(.object([])))
    }
  }

  static func map(_ entries: [(String, JSONSyntax)]) -> JSONSyntax {
    let fields = JSONSyntax(.object(entries.map { JSONSyntax.Member($0.0, $0.1) }))
    return member("mapValue", entries.isEmpty ? JSONSyntax(.object([])) : member("fields", fields))
  }

  static func path(_ segments: [String]) -> JSONSyntax {
    let segments = segments.map { member("simple", JSONSyntax(.string($0))) }
    return member("pathValue", member("segments", JSONSyntax(.array(segments))))
  }

  private static func double(_ value: Double) -> JSONSyntax {
    // JSON supports only finite numbers.
    value.isFinite
      ? JSONSyntax(.double(value)) : JSONSyntax(.string(value.isNaN ? "NaN" : "\(value < 0 ? "-" : "")Infinity"))
  }

  private static func member(_ name: String, _ value: JSONSyntax) -> JSONSyntax {
    JSONSyntax(.object([JSONSyntax.Member(name, value)]))
  }
}
