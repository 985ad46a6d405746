// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import Dashboard
import DashboardModel
import FirestoreBackend
import FirestoreClientState
import FirestoreGRPC
import FirestoreModel

/// The clients that share the screen with the first one.
extension Session {
  /// Opens the clients of the command line; the first one has the focus.
  func openClients() {
    guard options.clientCount > 1 else { return }
    isBeginning = true
    for name in StageFacts.names.prefix(options.clientCount).dropFirst() { apply(.run("client add \(name)", at: .now)) }
    apply(.run("client \(StageFacts.firstName)", at: .now))
    isBeginning = false
  }

  func perform(_ turn: ClientStage.Turn) {
    for member in turn.opened { open(member) }
    for effect in turn.effects { perform(effect.item, of: effect.client) }
    for client in turn.closed { close(client) }
  }

  func perform(_ effect: ClientEffect, of client: ClientNumber) {
    if client == stage.first.number { source?.perform(effect) } else { clients[client]?.bridge.perform(effect) }
  }

  func cachedDocument(_ key: DocumentKey, of client: ClientNumber) async -> Document? {
    if client == stage.first.number { return await source?.cachedDocument(key) }
    return await clients[client]?.bridge.cachedDocument(key)
  }

  private func open(_ member: ClientStage.Member) {
    guard case .client(let first)? = source else {
      return perform(stage.giveUp(member.number, because: "there is no client of the dashboard's own here", at: .now))
    }
    first.bridge.tellsAnswers = true
    let number = member.number
    let storage = options.storage
    let isUsersOwn = member.user != stage.first.user
    let client = StagedClient(
      as: isUsersOwn ? member.user : nil,
      to: first.connection.datastore(as: isUsersOwn ? member.user : nil, of: storage.backend), storage.database,
      faults: FaultInjector(
        seed: (options.demo?.seed ?? DemoSettings.standardSeed) &+ UInt64(number.rawValue),
        isBeginning ? options.faults : []),
      startsOffline: isBeginning && options.startsOffline,
      transferPlace: storage.transferPlace(first.connection), control: EmulatorControl(of: storage.backend),
      tellsCommits: BackendConnection.name(storage).kind != .cloud
    ) { [weak self] in self?.apply(.client($0, at: .now), from: number) }
    clients[number] = client
  }

  private func close(_ client: ClientNumber) {
    if recorder != nil, recorded == client { perform(RecordingEffect.stop) }
    guard let client = clients.removeValue(forKey: client) else { return }
    client.close()
    leaving.append(Task { await client.end() })
  }

  /// Ends all of them, those that have left the screen too.
  func endClients() async {
    for client in clients.values { await client.end() }
    for task in leaving { await task.value }
  }
}
