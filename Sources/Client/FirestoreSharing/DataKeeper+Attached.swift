// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreSQLite
import FirestoreServer

extension DataKeeper {
  /// The needs of a thread that stays attached.
  struct Attached: Sendable {
    fileprivate let welcome: SharingLine.Welcome
    fileprivate let line: OwnerLine
    fileprivate let socket: DataSocket
    fileprivate var attachment: Attachment
    /// The bytes that came behind the welcome.
    fileprivate var received: [UInt8]
  }

  /// The times in milliseconds: between two questions to the owner for a sign of life, until a silent owner is looked
  /// at as possibly stopped, and until an owner that is not stopped counts as silent; it may be in the middle of
  /// something long.
  private static let (interval, stopPatience, patience): (CInt, CInt, CInt) = (2_000, 500, 10_000)

  /// - Returns: `nil` if the data is not wanted any more.
  func attach(
    _ welcome: SharingLine.Welcome, _ line: OwnerLine, _ received: [UInt8], _ socket: DataSocket?
  ) -> Attached? {
    guard let socket else { return nil }
    let attachment = Attachment(welcome, over: socket)
    let isWanted = change { state in
      state.way = .attached(attachment)
      state.reason = nil
      state.generation += 1
      state.instance = welcome.instance
      state.line = line
    }
    if !isWanted { return nil }
    return Attached(welcome: welcome, line: line, socket: socket, attachment: attachment, received: received)
  }

  /// Stays attached until the owner is gone, or this process lets the data go. While the owner does not answer there is
  /// no way, and its calls have ended. Blocks.
  func stay(_ attached: Attached) {
    var attached = attached
    let (owner, line) = (attached.welcome.owner, attached.line)
    var asked: ContinuousClock.Instant?
    defer { detach(attached.attachment) }
    while true {
      switch line.next(&attached.received, within: asked == nil ? Self.interval : Self.stopPatience) {
      case .end: return
      case .line(let news):
        asked = nil
        if attached.attachment.isOver {
          guard let again = attach(attached.welcome, line, attached.received, attached.socket) else { return }
          attached = again
        }
        if case .here(let members) = news {
          change { $0.others = members.filter { $0.process != self.member.process && $0 != owner } }
        }
        if case .refusal(let reason) = news { change { $0.refusal = reason } }
      case .silence:
        if attached.attachment.isOver { continue }
        guard let since = asked else {
          asked = .now
          if !line.send(.question) { return }
          continue
        }
        let isLong = ContinuousClock.now - since > .milliseconds(Int(Self.patience))
        if isLong || ProcessState.isStopped(owner.process) { suspend(attached.attachment) }
      }
    }
  }

  private func detach(_ attachment: Attachment) {
    change { state in
      state.way = nil
      state.reason = nil
      state.generation += 1
      state.line = nil
      state.others = []
    }
    // Callers from now on wait for the next way.
    attachment.end()
  }

  /// Ends the calls on an owner that does not answer, with the reason.
  private func suspend(_ attachment: Attachment) {
    let reason = RPCStatus(.unavailable, DataKeeper.silence(of: attachment.owner).message)
    change { state in
      state.way = nil
      state.reason = reason
      state.generation += 1
    }
    attachment.end()
  }
}
