// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreClientState
import FirestoreModel
import NIOCore

/// The processes attached to data that this process serves. Used on the connections' thread.
final class AttachedProcesses: Sendable {
  private struct State {
    var members: [(channel: any Channel, member: DataMember)] = []
  }

  let welcome: SharingLine.Welcome
  private let onChange: @Sendable ([DataMember]) -> Void
  private let onClaim: @Sendable () -> String?
  private let state: NIOLoopBoundBox<State>

  /// - Parameters:
  ///   - onChange: called on the connections' thread with all attached processes.
  ///   - onClaim: called when an attached process must open the data itself; returns the reason if it does not get the
  ///     data.
  init(
    _ welcome: SharingLine.Welcome, on loop: any EventLoop, onChange: @escaping @Sendable ([DataMember]) -> Void,
    onClaim: @escaping @Sendable () -> String? = { "the data is not released" }
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

  /// - Returns: the reason why this process does not release the data; `nil` if it releases the data.
  func claim() -> String? { onClaim() }

  private func tell() {
    let members = state.value.members.map(\.member)
    let line = SharingLine.here(members).text
    // A process that does not read receives the list when it reads again.
    for (channel, _) in state.value.members where channel.isWritable {
      channel.writeAndFlush(ByteBuffer(string: line), promise: nil)
    }
    onChange(members)
  }

  /// Sends the current list of attached processes to a process that has resumed reading.
  func tell(_ channel: any Channel) {
    let members = state.value.members
    guard members.contains(where: { $0.channel === channel }) else { return }
    channel.writeAndFlush(ByteBuffer(string: SharingLine.here(members.map(\.member)).text), promise: nil)
  }
}

/// Handles the connection on which an attached process introduces itself and receives the list of attached processes.
final class AttachedProcessHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let attendance: AttachedProcesses
  /// The id of the process at the other end, as reported by the system; 0 if unknown.
  private let process: Int32
  private var received = ByteBuffer()
  private var hasJoined = false

  init(_ attendance: AttachedProcesses, process: Int32) {
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
          "\(owner) has the data open with an incompatible version of Hearth "
            + "(\(SharingLine.version), not \(version)). Use the same version, or end that process."), context)
      context.close(promise: nil)
    // A peer that does not read its answers gets no more of them.
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

/// The messages between processes that share a data directory, on its socket. They are lines with fields separated by
/// tabs. Connections for gRPC calls on the same socket begin with the HTTP/2 preface instead.
///
/// ```
/// guest ──► hearth VERSION PROCESS NAME                          the guest
/// owner ──► hearth VERSION INSTANCE DURABILITY PROCESS NAME      welcome: the data's owner
///       or  no REASON                                            and the connection ends
/// guest ──► give              the guest must open the data itself, for example to serve it on a port
/// owner ──► no REASON         the owner keeps the data; else it releases it and closes the connection
/// owner ──► here PROCESS NAME PROCESS NAME …                     the attached processes, after each change
/// guest ──► ?       owner ──► !                                  a sign of life
/// ```
/// The guest's first line is the same in every version, so that each side can report a version mismatch.
package enum SharingLine: Hashable, Sendable {
  case hello(version: Int, DataMember)
  case welcome(Welcome)
  case refusal(String)
  case claim
  case here([DataMember])
  case question
  case answer

  package struct Welcome: Hashable, Sendable {
    package var version = SharingLine.version
    /// The random number that identifies the data.
    package var instance: [UInt8]
    package var durability: BackendConfiguration.Durability
    package var owner: DataMember

    package init(instance: [UInt8], durability: BackendConfiguration.Durability, owner: DataMember) {
      self.instance = instance
      self.durability = durability
      self.owner = owner
    }
  }

  /// The version of the calls and lines between processes that share data.
  package static let version = 1

  /// The maximum size of a line in bytes, enough for a hundred names.
  package static let maximumBytes = 16 << 10

  private static let longestName = 80

  /// - Parameter line: the line without its end.
  package init?(_ line: some Collection<UInt8>) {
    let fields = String(decoding: line, as: UTF8.self).split(separator: "\t", omittingEmptySubsequences: false)
    let rest = fields.dropFirst().map(String.init)
    switch (fields[0], rest.count) {
    case ("hearth", 3):
      guard let version = Int(rest[0]), let member = DataMember(rest[1], rest[2]) else { return nil }
      self = .hello(version: version, member)
    case ("hearth", 5...):
      guard let version = Int(rest[0]), let instance = Hexadecimal.bytes(rest[1]),
        let durability = BackendConfiguration.Durability(rawValue: rest[2]), let owner = DataMember(rest[3], rest[4])
      else { return nil }
      var welcome = Welcome(instance: instance, durability: durability, owner: owner)
      welcome.version = version
      self = .welcome(welcome)
    case ("no", 1): self = .refusal(rest[0])
    case ("here", let count) where count.isMultiple(of: 2):
      self = .here(stride(from: 0, to: count, by: 2).compactMap { DataMember(rest[$0], rest[$0 + 1]) })
    case ("give", 0): self = .claim
    case ("?", 0): self = .question
    case ("!", 0): self = .answer
    default: return nil
    }
  }

  /// The line with its end.
  package var text: String {
    let fields: [String] =
      switch self {
      case .hello(let version, let member): ["hearth", "\(version)"] + Self.fields(member)
      case .welcome(let welcome):
        ["hearth", "\(welcome.version)", Hexadecimal.text(welcome.instance), welcome.durability.rawValue]
          + Self.fields(welcome.owner)
      case .refusal(let reason): ["no", Self.plain(reason, longest: 500)]
      case .claim: ["give"]
      case .here(let members): ["here"] + members.prefix(100).flatMap(Self.fields)
      case .question: ["?"]
      case .answer: ["!"]
      }
    return fields.joined(separator: "\t") + "\n"
  }

  private static func fields(_ member: DataMember) -> [String] {
    ["\(member.process)", plain(member.name, longest: longestName)]
  }

  /// The text without tabs, line ends and other control characters.
  private static func plain(_ text: String, longest: Int) -> String {
    String(
      String.UnicodeScalarView(text.unicodeScalars.prefix(longest).filter { $0.properties.generalCategory != .control })
    )
  }
}

extension DataMember {
  fileprivate init?(_ process: String, _ name: String) {
    guard let process = Int32(process) else { return nil }
    self.init(process: process, name: name)
  }
}
