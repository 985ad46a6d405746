// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

@testable import Dashboard
@testable import DashboardModel

extension Shop {
  /// The requests of the shop's users, with the refused update selected.
  static func showRequests(_ scene: inout Scene) {
    scene.press("4 ]")
    var update = decision(3, "update", "orders/7Qf3xAzP", "bob", 8, 0.184, denial: "false for 'update' @ L8")
    update.statements = [
      RuleDecision.Statement(
        line: 8, text: "allow update: if request.auth.uid == resource.data.buyer && resource.data.status != 'paid'",
        isTrue: false,
        values: [
          RuleDecision.SeenValue("request.auth.uid", "\"bob\""),
          RuleDecision.SeenValue("resource.data.buyer", "\"ada\""),
        ])
    ]
    var failed = decision(5, "get", "users/grace", nil, 12, 0.02, denial: "Null value error. for 'get' @ L12")
    failed.statements = [
      RuleDecision.Statement(line: 12, text: "", isTrue: nil, message: "Null value error.")
    ]
    scene.hear(
      .decisions(
        .success([
          decision(1, "list", "orders", "ada", 6, 1.2), decision(2, "get", "users/ada", "ada", 12, 0.031),
          update, decision(4, "create", "secrets/a", nil, nil, nil, denial: "No matching allow statements"), failed,
        ])))
    scene.press("up up")
  }

  private static func decision(
    _ number: Int, _ method: String, _ path: String, _ user: String?, _ line: Int?, _ milliseconds: Double?,
    denial: String? = nil
  ) -> RuleDecision {
    RuleDecision(
      number: number, time: Scene.time("12:04:0\(number)"), method: method, path: ResourcePath(path), user: user,
      isAllowed: denial == nil, line: line, reason: denial ?? "", milliseconds: milliseconds)
  }
}
