// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOptions
import CommandOutput
import Dashboard
import DashboardModel
import FirestoreBackend
import FirestoreClientState
import FirestoreGRPC
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSync

import class Hearth.Client
import class Hearth.UserSession

/// An additional client of the dashboard. It has its own cache in memory, its own faults and its own network switch,
/// but uses the same backend as the first client.
@MainActor
final class ScreenClient {
  let bridge: ClientBridge
  private let client: Client
  private let following: Task<Void, Never>

  /// Opens the client, and starts reporting its events.
  /// - Parameters:
  ///   - user: the client's user; `nil` for the dashboard's user.
  ///   - database: the database and its connection.
  ///   - faults: the faults of the client's network. Other clients have other faults.
  init(
    as user: String?, to datastore: any Datastore, _ database: DatabaseID, faults: FaultInjector, startsOffline: Bool,
    transferPlace: (database: DatabaseID, backend: String?), control: EmulatorControl? = nil, tellsCommits: Bool = true,
    report: @escaping @MainActor (ScreenEvent) -> Void
  ) {
    let client = Client(
      LocalStoreConfiguration(location: .memory, policy: .never, database: database),
      datastore: FaultyDatastore(datastore, faults: faults, clock: ContinuousClock()),
      isNetworkEnabled: !startsOffline)
    // The queue must be that user's before the first write.
    if let user { client.engine.changeUser(to: user) {} }
    let bridge = ClientBridge(
      client, faults: faults, dataNotice: nil, transferPlace: transferPlace, startsOffline: startsOffline,
      control: control, tellsCommits: tellsCommits, report: report)
    bridge.tellsAnswers = true
    self.client = client
    self.bridge = bridge
    following = Task { await bridge.followStatus() }
  }

  /// Stops reporting events.
  func close() {
    bridge.close()
    following.cancel()
  }

  /// Ends the client. The pending writes in its cache are lost.
  func end() async {
    close()
    await following.value
    await bridge.transferring?.value
    await client.terminate()
  }
}

extension BackendConnection {
  /// The connection to the same database for another client.
  /// - Parameter user: the client's user. Emulators accept an unsigned user token. The embedded backend needs none.
  func datastore(as user: String?, of choice: BackendChoice) -> any Datastore {
    guard case .remote(let remote) = choice else { return datastore }
    var credentials = remote.credentials
    var isTrusting = remote.allowsInsecureCredentials
    if let user {
      let session = UserSession()
      // Only claims can be invalid, and the user has no claims.
      try? session.signIn(mockUser: user)
      let authorization = UserAuthorization(user: user, current: { user }) { forcingRefresh throws(RPCStatus) in
        do { return try await session.token(forcingRefresh: forcingRefresh) } catch {
          throw RPCStatus(.unauthenticated, "Cannot create a token for \(user): \(error).")
        }
      }
      credentials = .user(authorization)
      // The token is not secret: it has no signature.
      isTrusting = true
    }
    return GRPCDatastore(
      remote.endpoint, database: database, credentials: credentials, allowsInsecureCredentials: isTrusting)
  }
}

/// The clients that share the screen with the first one.
extension Session {
  /// Opens the clients that the command line names. The first of them has the focus.
  func openClients() {
    guard options.clientCount > 1 else { return }
    isBeginning = true
    for name in ClientSetFacts.names.prefix(options.clientCount).dropFirst() {
      apply(.run("client add \(name)", at: .now))
    }
    apply(.run("client \(ClientSetFacts.firstName)", at: .now))
    isBeginning = false
  }

  func perform(_ result: UpdateResult) {
    for effect in result.effects { perform(effect.item, of: effect.client) }
  }

  func open(_ number: ClientNumber) {
    guard let member = clientSet[number] else { return }
    guard let first = own else {
      return perform(clientSet.giveUp(number, because: "this dashboard has no client that it can share", at: .now))
    }
    first.bridge.tellsAnswers = true
    let storage = options.storage
    let isUsersOwn = member.user != clientSet.first.user
    let client = ScreenClient(
      as: isUsersOwn ? member.user : nil,
      to: first.connection.datastore(as: isUsersOwn ? member.user : nil, of: storage.backend), storage.database,
      faults: FaultInjector(
        seed: (options.demo?.seed ?? DemoSettings.standardSeed) &+ UInt64(number.rawValue),
        isBeginning ? options.faults : []),
      startsOffline: isBeginning && options.startsOffline,
      transferPlace: storage.transferPlace(first.connection), control: EmulatorControl(of: storage.backend),
      tellsCommits: BackendConnection.name(storage).kind != .cloud
    ) { [weak self] in self?.apply(Action($0, at: .now), from: number) }
    screenClients[number] = client
    clients[number] = client.bridge
  }

  func close(_ client: ClientNumber) {
    if recorder != nil, recorded == client { perform(RecordingEffect.stop) }
    clients[client] = nil
    guard let client = screenClients.removeValue(forKey: client) else { return }
    client.close()
    leaving.append(Task { await client.end() })
  }

  /// Ends all additional clients, including those that were removed from the screen.
  func endClients() async {
    for client in screenClients.values { await client.end() }
    for task in leaving { await task.value }
  }
}
