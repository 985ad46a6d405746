// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import NIOCore

/// The processes that are attached to data that this process serves. Used on the thread of the connections.
final class Attendance: Sendable {
  private struct State {
    var members: [(channel: any Channel, member: DataMember)] = []
  }

  let welcome: SharingLine.Welcome
  private let onChange: @Sendable ([DataMember]) -> Void
  private let onClaim: @Sendable () -> String?
  private let state: NIOLoopBoundBox<State>

  /// - Parameters:
  ///   - onChange: called on the thread of the connections with all attached processes.
  ///   - onClaim: called when one of them has to have the data open itself; returns the reason why it does not get the
  ///     data.
  init(
    _ welcome: SharingLine.Welcome, on loop: any EventLoop, onChange: @escaping @Sendable ([DataMember]) -> Void,
    onClaim: @escaping @Sendable () -> String? = { "it is kept" }
  ) {
    self.welcome = welcome
    self.onChange = onChange
    self.onClaim = onClaim
    state = .makeBoxSendingValue(State(), eventLoop: loop)
  }

  var isEmpty: Bool { state.value.members.isEmpty }

  func join(_ member: DataMember, on channel: any Channel) {
    channel.closeFuture.assumeIsolated().whenComplete { _ in
      self.state.value.members.removeAll { $0.channel === channel }
      self.tell()
    }
    state.value.members.append((channel, member))
    tell()
  }

  /// - Returns: the reason why the data is kept; `nil` when it is let go.
  func claim() -> String? { onClaim() }

  private func tell() {
    let members = state.value.members.map(\.member)
    let line = SharingLine.here(members).text
    // A process that does not read is told when it does.
    for (channel, _) in state.value.members where channel.isWritable {
      channel.writeAndFlush(ByteBuffer(string: line), promise: nil)
    }
    onChange(members)
  }

  /// Tells a process that reads again which processes are attached by now.
  func tell(_ channel: any Channel) {
    let members = state.value.members
    guard members.contains(where: { $0.channel === channel }) else { return }
    channel.writeAndFlush(ByteBuffer(string: SharingLine.here(members.map(\.member)).text), promise: nil)
  }
}

/// A connection on which an attached process introduces itself, and hears which others are attached.
final class AttendanceHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let attendance: Attendance
  /// The process at the other end as the system knows it; 0 if the system does not tell.
  private let process: Int32
  private var received = ByteBuffer()
  private var hasJoined = false

  init(_ attendance: Attendance, process: Int32) {
    self.attendance = attendance
    self.process = process
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    received.writeBuffer(&bytes)
    while let end = received.readableBytesView.firstIndex(of: 0x0A) {
      let line = SharingLine(received.readableBytesView[..<end])
      received.moveReaderIndex(to: end + 1)
      receive(line, context)
    }
    received.discardReadBytes()
    if received.readableBytes > SharingLine.maximumBytes { context.close(promise: nil) }
  }

  private func receive(_ line: SharingLine?, _ context: ChannelHandlerContext) {
    switch line {
    case .hello(SharingLine.version, var member) where !hasJoined:
      hasJoined = true
      if process != 0 { member.process = process }
      send(.welcome(attendance.welcome), context)
      attendance.join(member, on: context.channel)
    case .hello(let version, _) where !hasJoined:
      let owner = attendance.welcome.owner
      send(
        .refusal(
          "\(owner) has the data open, and is of a version of Hearth that shares data in another way "
            + "(\(SharingLine.version), not \(version)). Use the same version, or end that process."), context)
      context.close(promise: nil)
    // A peer that asks without reading the answers is not answered.
    case .question where context.channel.isWritable: send(.answer, context)
    case .question: break
    case .claim where hasJoined: if let reason = attendance.claim() { send(.refusal(reason), context) }
    case .claim, .hello, .welcome, .refusal, .here, .answer, nil: context.close(promise: nil)
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { attendance.tell(context.channel) }
    context.fireChannelWritabilityChanged()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  private func send(_ line: SharingLine, _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: line.text)), promise: nil)
  }
}
