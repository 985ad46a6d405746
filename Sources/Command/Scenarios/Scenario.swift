// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreClientState
package import FirestoreModel
package import FirestoreQuery
package import FirestoreRules
import FirestoreText
import ShippedScenarios

/// One line of a scenario: an action, or an expectation.
package struct ScenarioStep: Sendable {
  package enum Action: Sendable {
    case world(WorldAction)
    /// An action of the client that the step names, or of the only one.
    case client(ClientAction)
  }

  /// An action that needs no client, or all of them.
  package enum WorldAction: Sendable {
    /// Opens the client that the step names.
    case open(ClientOpening)
    /// Puts security rules in front of all clients; `nil` takes them away.
    case rules(Ruleset?)
    case bundle(ScenarioBundle)
    /// Writes at the server's side.
    case write([Mutation])
    /// Prints the result of a listener, or of all: those of the client that the step names, or of each client.
    case snapshot(String?)
    /// Prints a text.
    case caption(String)
    case pause(Duration)
    /// Waits until every write is answered, and every listener of a client that is online is in sync.
    case synchronize(within: Duration)
    /// Waits until all clients and the backend agree about the results of all listeners.
    case expectSame(within: Duration)
  }

  package struct ClientOpening: Sendable {
    package var user: String?
    /// The client whose cache it uses; `nil` for a cache and a queue of its own.
    package var owner: String?
  }

  package enum ClientAction: Sendable {
    /// Closes the client and opens it again on its cache.
    case restart
    /// Gives the client up as it is, and opens another one on its files as they are now.
    case kill
    /// Bounds the client's cache, which is opened anew for it.
    case cacheSize(Int64)
    case setting(ClientSetting)
    /// Fills the cache from a bundle.
    case load(bundle: String)
    case listen(FirestoreQuery.Query, name: String?, ListenerOptions)
    /// Listens to a query that a loaded bundle has named.
    case listenNamed(String, name: String?, ListenerOptions)
    /// Ends a listener.
    case stop(String)
    /// A request in the text form that palette and `hearth plain` have too.
    case request(TypedRequest)
    /// Gathers the client's writes until `commit`, which makes them one.
    case beginBatch, commitBatch
    /// Changes the user, whose queue of writes is another one.
    case changeUser(String?)
    case expect(EventPattern, within: Duration)
    /// No event of a listener may happen.
    case expectNothing(on: String?, within: Duration)
    case expectState(ScenarioState, within: Duration)
  }

  /// The time to wait for an event if the scenario does not give one.
  package static let patience = Duration.seconds(10)
  /// The name that stands for the backend itself in front of a write.
  package static let server = "server"

  /// The number of the line, counted from 1.
  package let line: Int
  /// The text of the line, without white space around it.
  package let text: String
  /// The name of the client, or `server`; `nil` for the only one.
  package let client: String?
  package let action: Action
}

/// A fact that holds or not at any moment, and is waited for.
package enum ScenarioState: Sendable {
  /// The number of writes that wait for an answer.
  case pending(Int)
  case connection(OnlineState)
  /// The number of documents in a listener's result.
  case results(Int, on: String?)
  /// A document that is there and meets conditions, or is not there.
  case document(DocumentKey, exists: Bool, [Filter], at: Place)
  /// The way in which the cache answers a query.
  case plan(QueryPlan, FirestoreQuery.Query)
  /// Whether the cache knows something about a document.
  case cached(DocumentKey, isThere: Bool)
  /// Whether the client has the streams, of those that share a cache.
  case streams(Bool)
  /// A document with times that the server is still to set and that meets conditions with this client's estimates of them,
  /// or one without such times.
  case estimate(DocumentKey, exists: Bool, [Filter])

  /// The place at which a document is looked for.
  package enum Place: Hashable, Sendable {
    case server
    case cache
    case listener(String?)
  }
}

/// One scenario: a name, a sentence about it, and its steps.
package struct Scenario: Sendable {
  package var name: String
  /// The first remark of the text, which says what the scenario shows; empty without one.
  package var summary: String
  package var seed: UInt64
  package var steps: [ScenarioStep]
}

/// A step that changes how one client works.
package enum ClientSetting: Sendable {
  /// Sets the client's time of day: so far ahead of the true one, or behind it.
  case clock(Duration)
  /// Adds a local index.
  case index(FieldIndex)
  case automaticIndexes(Bool)
  /// Drops all local indexes.
  case noIndexes
}

/// A bundle that a scenario makes at the server's side.
package struct ScenarioBundle: Sendable {
  package enum Contents: Sendable {
    /// The documents that a query finds at the server; the query has the bundle's name.
    case result(FirestoreQuery.Query)
    /// The documents that the scenario writes down, or the fact that there is none.
    case documents([(key: DocumentKey, fields: Fields?)], queries: [(name: String, query: FirestoreQuery.Query)])
  }

  package var name: String
  package var contents: Contents
}

extension Scenario {
  /// The name on a screen of a client that has none.
  package static let unnamedClient = "client"

  /// The names of the clients in the order in which they are opened.
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

/// A scenario that comes with the program.
package struct ShippedScenario: Sendable {
  package let name: String
  /// One sentence about what it shows.
  package let summary: String
  package let text: String

  /// All of them, in the order of the manual.
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
