// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
package import FirestoreService
package import NIOCore

/// The way of calls on a connection that speaks HTTP/2, with what all such connections share:
/// ```
/// bytes ─► FrameConnection ─► ServedConnection ─┬─ a small request ──► PromptCall
///                                ServedStream   └─ others ───────────► ListenCall, TaskCall, OtherCalls
/// ```
package struct CallPipeline: Sendable {
  /// One connection: the service as its client uses it, and what it may hold in memory.
  package typealias Connection = (service: FirestoreService, budget: ConnectionBudget)

  package let service: FirestoreService
  package let turn: DeliveryTurn
  package let limits: ConnectionLimits
  /// The memory that all connections share.
  package let budget: ServerBudget
  let others: (any OtherCalls)?
  let commits: CommitTurn

  /// - Parameters:
  ///   - service: its backend runs on the event loop.
  ///   - budget: of that event loop, as is the turn.
  ///   - others: `nil` where nothing else is answered, as between the processes that share data.
  package init(
    _ service: FirestoreService, _ turn: DeliveryTurn, _ limits: ConnectionLimits, _ budget: ServerBudget,
    _ others: (any OtherCalls)? = nil
  ) {
    self.service = service
    self.turn = turn
    self.limits = limits
    self.budget = budget
    self.others = others
    commits = CommitTurn(service, on: turn.loop)
  }

  /// Begins a connection on a channel's thread.
  package func connection(on loop: any EventLoop) -> Connection {
    (service.serving(ClientID()), ConnectionBudget(limits, budget, on: loop))
  }

  /// Adds the handler at the end of a channel's pipeline.
  package func configure(_ channel: any Channel, _ connection: Connection) throws {
    let served = ServedConnection(connection, self, on: channel.eventLoop)
    try channel.pipeline.syncOperations.addHandler(served.frames)
  }
}
