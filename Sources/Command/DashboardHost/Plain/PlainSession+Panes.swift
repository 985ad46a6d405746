// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel

/// Questions of words to the client, before a pane can be told.
extension PlainSession {
  /// The longest time that a document's server is waited for.
  private static let patience = Duration.seconds(10)

  /// Opens a document, which stays open until another one is, and tells what its pane shows: as the server has it, or as
  /// the cache has it where the server cannot be asked.
  func tell(_ key: DocumentKey, asJSON: Bool) async {
    perform(state.openDetail(key))
    if !isSettled(key) { _ = await wait(within: Self.patience) { $0.isSettled(key) } }
    // Writes of the words before are in the cache, and in what is told.
    _ = await status()
    await bridge?.readLayers(of: key).value
    let present = await present()
    guard let detail = present.detail, detail.key == key, detail.isLoaded else {
      return say("\(key.path.text) cannot be told: neither the server nor the cache has answered")
    }
    if asJSON { return print([DetailJSON.line(detail, present)]) }
    for line in PlainAccount.lines(of: detail, present) { say(line) }
  }

  /// Whether nothing newer of an open document is to be waited for.
  private func isSettled(_ key: DocumentKey) -> Bool {
    guard let bridge, bridge.subscriptions.isOpen(.detail(key)) else { return true }
    guard let detail = state.detail, detail.key == key, detail.isLoaded else { return false }
    return detail.source?.isFromCache == false || state.network.isOffline
  }

  /// Lists the collections at the root and counts each, at the server where it can be reached.
  func lookAtCollections() async {
    await bridge?.listCollections(below: .root).value
    for root in state.browser.roots ?? [] { await bridge?.countNow(ResourcePath(root)).value }
  }

  // MARK: Requests

  /// Tells each request that rules decide on from now on, until the session ends.
  func followRequests(asJSON: Bool) async {
    if followedRequests != nil {
      // Requests since the last question are told, too.
      followedRequests?.asJSON = asJSON
      return await tellRequests()
    }
    await askForRequests()
    if let note = state.requestsNote, state.requests.all == nil { return say("requests: \(note)") }
    followedRequests = FollowedRequests(told: state.requests.all?.last?.number ?? 0, asJSON: asJSON)
    say("follows the requests that rules decide on")
    beginFollowing()
  }

  /// Asks for the requests since the last question, and tells them.
  func tellRequests() async {
    guard followedRequests != nil else { return }
    await bridge?.listDecisions(after: state.requests.all?.last?.number ?? 0)?.value
    // A word and the clock may have asked at once.
    guard let followed = followedRequests else { return }
    // A server that was started again counts from 1 again.
    let all = state.requests.all ?? []
    let isAnew = (all.last?.number ?? 0) < followed.told
    followedRequests?.told = all.last?.number ?? followed.told
    for decision in all where isAnew || decision.number > followed.told {
      if followed.asJSON {
        print([SessionLines.request(told: decision)])
      } else {
        say(PlainAccount.line(of: decision, state))
      }
    }
  }

  /// Asks the server which requests its rules decided on.
  func askForRequests() async {
    if state.reasonAgainstRequests == nil { await bridge?.listDecisions(after: nil)?.value }
  }
}

/// The requests that were told as they came.
struct FollowedRequests {
  /// The number of the last of them.
  var told: Int
  var asJSON: Bool
}
