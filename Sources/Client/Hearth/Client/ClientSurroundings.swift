// SPDX-License-Identifier: Apache-2.0
package import FirestoreLocal
package import FirestoreModel
package import SerialExecutors

/// The time, chance and thread of an app's clients: those of the machine, or those of a simulation.
package struct ClientSurroundings: Sendable {
  /// The clock for every delay and timeout.
  package var clock: any Clock<Duration> = ContinuousClock()
  /// The time of day.
  package var now: @Sendable () -> FirestoreModel.Timestamp = FirestoreModel.Timestamp.now
  /// The source of chance; each client, and each transaction, has a copy.
  package var random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  /// Makes the id of a document that gets no other.
  package var documentID: @Sendable () -> String = { AutomaticID.make() }
  /// Whether clients may use the network from the beginning on.
  package var beginsOnline = true
  /// The thread of a simulation, on which clients run and their callbacks are called; `nil` for threads of their own, and
  /// callbacks on the queue of the settings.
  package var loop: (any WorkLoop & TaskExecutor)?
  /// The clients on that thread with which a shared cache is shared.
  package var company: SharedCompany?

  package init() {}
}
