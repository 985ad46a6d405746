// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery
package import FirestoreRules
import FirestoreText
import ShippedScenarios

/// One step of a scenario: an action or an expectation. A step is usually one line.
package struct ScenarioStep: Sendable {
  package enum Action: Sendable {
    case world(WorldAction)
    /// An action of the client that the step names. If there is only one client, the name can be omitted.
    case client(ClientAction)
  }

  /// An action that is not for a single client.
  package enum WorldAction: Sendable {
    /// Opens the client that the step names.
    case open(ClientOpening)
    /// Enforces security rules for all clients; `nil` removes them.
    case rules(Ruleset?)
    case bundle(ScenarioBundle)
    /// Writes at the server without a client.
    case write([Mutation])
    /// Prints the result of a listener. With `nil`, prints the results of all listeners of the step's client, or of all
    /// clients.
    case snapshot(String?)
    /// Prints a text.
    case caption(String)
    case pause(Duration)
    /// Waits until every write is acknowledged or rejected, and every listener of an online client is in sync.
    case synchronize(within: Duration)
    /// Waits until the results of all listeners agree with the backend and with each other.
    case expectSame(within: Duration)
  }

  package struct ClientOpening: Sendable {
    package var user: String?
    /// The client whose cache this client shares; `nil` for its own cache and queue.
    package var owner: String?
  }

  package enum ClientAction: Sendable {
    /// Closes the client, and opens it again with its cache.
    case restart
    /// Abandons the client without closing it, and opens another client with the files as they are.
    case kill
    /// Sets the maximum size of the client's cache, and opens the cache again.
    case cacheSize(Int64)
    case setting(ClientSetting)
    /// Loads a bundle into the cache.
    case load(bundle: String)
    case listen(FirestoreQuery.Query, name: String?, ListenerOptions)
    /// Starts a listener for a named query of a loaded bundle.
    case listenNamed(String, name: String?, ListenerOptions)
    /// Stops a listener.
    case stop(String)
    /// A request as it is typed in the palette and in `hearth plain`.
    case request(TypedRequest)
    /// Collects the client's writes. `commit` then adds them to the queue as one batch.
    case beginBatch, commitBatch
    /// Changes the signed-in user. Each user has a separate write queue.
    case changeUser(String?)
    case expect(EventPattern, within: Duration)
    /// Expects that a listener has no event.
    case expectNothing(on: String?, within: Duration)
    case expectState(ScenarioState, within: Duration)
  }

  /// The default timeout when a step waits for an event.
  package static let patience = Duration.seconds(10)
  /// The name that stands for the server instead of a client, for writes at the server itself.
  package static let server = "server"

  /// The line number, counted from 1.
  package let line: Int
  /// The text of the line, without leading and trailing white space.
  package let text: String
  /// The name of the client, or `server`; `nil` for the only client.
  package let client: String?
  package let action: Action
}

/// A condition that a step waits for, apart from events.
package enum ScenarioState: Sendable {
  /// The number of pending writes has this value.
  case pending(Int)
  case connection(OnlineState)
  /// The number of documents in a listener's result has this value.
  case results(Int, on: String?)
  /// A document exists and satisfies conditions, or does not exist.
  case document(DocumentKey, exists: Bool, [Filter], at: Place)
  /// The cache executes a query with this plan.
  case plan(QueryPlan, FirestoreQuery.Query)
  /// The cache contains an entry for a document, or does not.
  case cached(DocumentKey, isThere: Bool)
  /// The client has the streams to the server open, or does not. Of the clients that share a cache, only one opens the
  /// streams.
  case streams(Bool)
  /// A document in the cache or in a listener's result. If `exists` is true, the document must have pending server
  /// timestamps. It must satisfy the conditions with this client's estimates of these timestamps. If `exists` is false,
  /// the document must have no pending server timestamps.
  case estimate(DocumentKey, exists: Bool, [Filter], at: Place)

  /// The place in which a document is looked up.
  package enum Place: Hashable, Sendable {
    case server
    case cache
    case listener(String?)
  }
}

/// One scenario: its name, summary and steps.
package struct Scenario: Sendable {
  package var name: String
  /// The first comment in the text, which describes the scenario. Empty if there is none.
  package var summary: String
  package var seed: UInt64
  package var steps: [ScenarioStep]
}

/// A step that changes the settings of a client.
package enum ClientSetting: Sendable {
  /// Sets the client's clock ahead of the correct time. A negative value sets it behind.
  case clock(Duration)
  /// Adds a local index to the client's cache.
  case index(FieldIndex)
  case automaticIndexes(Bool)
  /// Removes all local indexes.
  case noIndexes
}

/// A bundle that is created at the server of a scenario.
package struct ScenarioBundle: Sendable {
  package enum Contents: Sendable {
    /// The result of a query at the server. The named query in the bundle has the bundle's name.
    case result(FirestoreQuery.Query)
    /// Documents that the scenario's text contains. A document without fields does not exist.
    case documents([(key: DocumentKey, fields: Fields?)], queries: [(name: String, query: FirestoreQuery.Query)])
  }

  package var name: String
  package var contents: Contents
}

extension Scenario {
  /// The name that is shown for a client without a name.
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

/// A scenario that is shipped with the program.
package struct ShippedScenario: Sendable {
  package let name: String
  /// One sentence that describes the scenario.
  package let summary: String
  package let text: String

  /// All shipped scenarios, in the manual's order.
  package static let all: [ShippedScenario] = ScenarioFiles.sources.flatMap {
    split(String(decoding: $0, as: UTF8.self))
  }

  /// Splits a file into its scenarios. Each begins with the line `=== NAME`.
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
