// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("User messages")
struct NoticesTests {
  @Test("An ended attachment keeps the first reason for its end")
  func attachment() {
    var attachment = AttachmentState()
    #expect(!attachment.isOver)
    attachment.miss(3)
    attachment.miss(-1)
    let isNew = [attachment.end(because: "shop has ended"), attachment.end(because: "the connection is gone")]
    #expect(isNew == [true, false])
    #expect(attachment.end == "shop has ended")
    #expect(attachment.missedSnapshots == 3)
  }

  @Test("At most three toasts are shown, and dismissed ones remain in the messages")
  func notices() {
    var notices = Notices()
    for number in 1...205 { notices.tell(Toast(.info, "\(number)", shownAt: at(Double(number)))) }
    #expect(notices.shown.map(\.text) == ["203", "204", "205"])
    notices.age(to: at(205.5))
    #expect(notices.shown.map(\.text) == ["204", "205"])
    notices.dismiss()
    #expect(notices.shown.isEmpty)
    #expect(notices.kept.count == 200 && notices.kept.first?.text == "6")
    notices.show([Toast(.info, "then", shownAt: at(0))])
    #expect(notices.kept.last?.text == "205")
  }
}
