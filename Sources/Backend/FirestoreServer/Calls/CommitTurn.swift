// SPDX-License-Identifier: Apache-2.0
package import FirestoreBackend
package import FirestoreModel
package import FirestoreService
package import NIOCore

/// The commits that arrive in one turn of the connections' thread, on whatever connections. They are done together when
/// all that had arrived was read: in one transaction of the log, each atomically by itself, and each is answered after
/// the whole transaction is stored. Used on that thread only.
package final class CommitTurn: Sendable {
  package typealias Answer = (Result<[UInt8], RPCStatus>) -> Void

  /// The number of commits that are enough for one transaction: with more, others would wait, and little would be saved.
  private static let most = 64

  private struct State {
    var orders: [CommitOrder] = []
    var answers: [Answer] = []
    var isScheduled = false
  }

  private let service: FirestoreService
  private let state: NIOLoopBoundBox<State>

  /// - Parameters:
  ///   - service: its backend runs on the loop.
  ///   - loop: the connections' thread.
  package init(_ service: FirestoreService, on loop: any EventLoop) {
    self.service = service
    state = .makeBoxSendingValue(State(), eventLoop: loop)
  }

  /// - Parameter answer: called with the response's message once the commit is stored, or refused.
  package func add(_ order: CommitOrder, answer: @escaping Answer) {
    state.value.orders.append(order)
    state.value.answers.append(answer)
    if state.value.orders.count >= Self.most { return commit() }
    if state.value.isScheduled { return }
    state.value.isScheduled = true
    state.eventLoop.assumeIsolated().execute {
      self.state.value.isScheduled = false
      self.commit()
    }
  }

  private func commit() {
    let (orders, answers) = (state.value.orders, state.value.answers)
    if orders.isEmpty { return }
    (state.value.orders, state.value.answers) = ([], [])
    for (answer, result) in zip(answers, service.commitAtOnce(orders)) { answer(result) }
  }
}
