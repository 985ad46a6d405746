// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery
package import FirestoreRules
import FirestoreText
import ShippedScenarios

/// One line of a scenario: an action or an expectation.
package struct ScenarioStep: Sendable {
  package enum Action: Sendable {
    case world(WorldAction)
    /// An action of the step's client, or of the only client.
    case client(ClientAction)
  }

  /// An action that concerns no client or all clients.
  package enum WorldAction: Sendable {
    /// Opens the client that the step names.
    case open(ClientOpening)
    /// Enforces security rules for all clients; `nil` removes them.
    case rules(Ruleset?)
    case bundle(ScenarioBundle)
    /// Writes directly at the server, without a client.
    case write([Mutation])
    /// Prints the result of a listener; `nil` prints the results of all listeners of the step's client, or of all
    /// clients.
    case snapshot(String?)
    /// Prints a text.
    case caption(String)
    case pause(Duration)
    /// Waits until every write is answered, and every listener of an online client is in sync.
    case synchronize(within: Duration)
    /// Waits until all clients and the backend agree on the results of all listeners.
    case expectSame(within: Duration)
  }

  package struct ClientOpening: Sendable {
    package var user: String?
    /// The client whose cache this client uses; `nil` for a separate cache and queue.
    package var owner: String?
  }

  package enum ClientAction: Sendable {
    /// Closes the client and opens it again on its cache.
    case restart
    /// Abandons the client without closing it, and opens another client on its current files.
    case kill
    /// Limits the size of the client's cache, and reopens the cache.
    case cacheSize(Int64)
    case setting(ClientSetting)
    /// Fills the cache from a bundle.
    case load(bundle: String)
    case listen(FirestoreQuery.Query, name: String?, ListenerOptions)
    /// Listens to a named query of a loaded bundle.
    case listenNamed(String, name: String?, ListenerOptions)
    /// Ends a listener.
    case stop(String)
    /// A request in the same text form as in the palette and in `hearth plain`.
    case request(TypedRequest)
    /// Collects the client's writes until `commit`, which queues them as one batch.
    case beginBatch, commitBatch
    /// Changes the user. Each user has a separate write queue.
    case changeUser(String?)
    case expect(EventPattern, within: Duration)
    /// Expects no event of a listener.
    case expectNothing(on: String?, within: Duration)
    case expectState(ScenarioState, within: Duration)
  }

  /// The default timeout for an event.
  package static let patience = Duration.seconds(10)
  /// The name that prefixes a write at the backend itself.
  package static let server = "server"

  /// The line number, counted from 1.
  package let line: Int
  /// The text of the line, without surrounding white space.
  package let text: String
  /// The name of the client, or `server`; `nil` for the only client.
  package let client: String?
  package let action: Action
}

/// A condition that a step waits for.
package enum ScenarioState: Sendable {
  /// The number of pending writes.
  case pending(Int)
  case connection(OnlineState)
  /// The number of documents in a listener's result.
  case results(Int, on: String?)
  /// A document that exists and meets conditions, or does not exist.
  case document(DocumentKey, exists: Bool, [Filter], at: Place)
  /// The query plan of the cache.
  case plan(QueryPlan, FirestoreQuery.Query)
  /// Whether the cache has an entry for a document.
  case cached(DocumentKey, isThere: Bool)
  /// Whether this client is the one that has the streams, among the clients that share a cache.
  case streams(Bool)
  /// A document in the cache or in a listener's result. If `exists` is true, the document must have pending server
  /// timestamps and meet the conditions with this client's estimates of them. If `exists` is false, the document must
  /// have no pending server timestamps.
  case estimate(DocumentKey, exists: Bool, [Filter], at: Place)

  /// The place to look up a document.
  package enum Place: Hashable, Sendable {
    case server
    case cache
    case listener(String?)
  }
}

/// One scenario: its name, summary and steps.
package struct Scenario: Sendable {
  package var name: String
  /// The first comment of the text, which describes the scenario; empty without one.
  package var summary: String
  package var seed: UInt64
  package var steps: [ScenarioStep]
}

/// A step that changes a client's settings.
package enum ClientSetting: Sendable {
  /// Sets the client's time of day ahead of the true time; negative values set it back.
  case clock(Duration)
  /// Adds a local index.
  case index(FieldIndex)
  case automaticIndexes(Bool)
  /// Drops all local indexes.
  case noIndexes
}

/// A bundle that a scenario creates at the server.
package struct ScenarioBundle: Sendable {
  package enum Contents: Sendable {
    /// The server's result of a query; the query has the bundle's name.
    case result(FirestoreQuery.Query)
    /// The documents in the scenario's text. A document without fields is missing.
    case documents([(key: DocumentKey, fields: Fields?)], queries: [(name: String, query: FirestoreQuery.Query)])
  }

  package var name: String
  package var contents: Contents
}

extension Scenario {
  /// The displayed name of a client without a name.
  package static let unnamedClient = "client"

  /// The names of the clients in opening order.
  package var clientNames: [String] {
    var names: [String] = []
    for step in steps {
      let name: String?
      switch step.action {
      case .world(.open): name = step.client
      case .world: name = nil
      case .client: name = step.client ?? Self.unnamedClient
      }
      if let name, !names.contains(name) { names.append(name) }
    }
    return names.isEmpty ? [Self.unnamedClient] : names
  }
}

/// A scenario that ships with the program.
package struct ShippedScenario: Sendable {
  package let name: String
  /// One sentence that describes the scenario.
  package let summary: String
  package let text: String

  /// All shipped scenarios, in the manual's order.
  package static let all: [ShippedScenario] = ScenarioFiles.sources.flatMap {
    split(String(decoding: $0, as: UTF8.self))
  }

  /// The scenarios of a file: each begins with `=== NAME`.
  private static func split(_ file: String) -> [ShippedScenario] {
    file.split(separator: "=== ").compactMap { part in
      let lines = part.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = lines.first?.trimming(), !name.isEmpty, lines.count == 2 else { return nil }
      let text = lines[1].trimming()
      let summary = text.prefix { $0 != "\n" }.drop { $0 == "#" }.trimming()
      return ShippedScenario(name: String(name), summary: String(summary), text: String(text) + "\n")
    }
  }
}
