// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import NIOCore

// The events that are told of a connection and its streams.

extension HTTP2Bridge {
  func tell(_ kind: TrafficEvent.Kind, _ message: MessageCounter.Message, of stream: BridgedStream) {
    core.tell(
      TrafficEvent(kind, message, of: stream.method, connection: number, stream.number, values: core.tellsValues))
  }

  func event(_ kind: TrafficEvent.Kind, _ stream: BridgedStream) -> TrafficEvent {
    var event = TrafficEvent(kind, connection: number, stream: stream.number)
    event.method = stream.method.name
    event.transport = stream.method.isChannel ? .webchannel : stream.isGRPC ? .grpc : .http
    return event
  }

  func tellEnd(of stream: BridgedStream) {
    if !core.isHeard { return }
    var event = event(.ended, stream)
    (event.status, event.bytes) = (stream.outcome ?? RPCStatus(.ok, ""), stream.answerBytes)
    event.httpStatus = stream.isGRPC ? nil : stream.httpStatus
    event.duration = .nanoseconds((NIODeadline.now() - stream.began).nanoseconds)
    core.tell(event)
  }

  func fault(_ remark: String, _ stream: BridgedStream) -> TrafficEvent {
    var event = event(.fault, stream)
    event.remark = remark
    return event
  }

  func connectionEvent(_ remark: String) -> TrafficEvent {
    var event = TrafficEvent(.connection, connection: number)
    event.remark = remark
    return event
  }
}
