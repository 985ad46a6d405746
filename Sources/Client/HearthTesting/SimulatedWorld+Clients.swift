// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreSimulation
package import Hearth
import SeededRandom
import Synchronization

extension SimulatedWorld {
  /// The time, the chance and the thread of a client.
  package func surroundings(of name: String) -> ClientSurroundings {
    let seed = Self.seed(of: name, in: seed)
    var surroundings = ClientSurroundings()
    surroundings.clock = loop.clock
    surroundings.now = { now }
    surroundings.random = SeededGenerator(seed: seed)
    let ids = SeededIDs(seed: SeededGenerator.mixed(seed))
    surroundings.documentID = { ids.next() }
    surroundings.loop = loop
    return surroundings
  }
}

/// Ids of new documents, the same for the same seed.
private final class SeededIDs: Sendable {
  private let generator: Mutex<SeededGenerator>

  init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

  func next() -> String { generator.withLock { AutomaticID.make(using: &$0) } }
}
