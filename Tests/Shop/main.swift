// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hearth

let settings = FirestoreSettings()
settings.isInspectable = true  // or start the program with HEARTH_INSPECT=1
let db = Firestore.firestore()
db.settings = settings

let orders = db.collection("orders")
let listener = orders.whereField("status", isEqualTo: "open").addSnapshotListener { snapshot, error in
  guard let snapshot else { return print(error!) }
  print(snapshot.documents.count, "open orders")
}
for number in 1... {
  let status = number.isMultiple(of: 3) ? "paid" : "open"
  let order = orders.document("order-\(number % 20)")
  try await order.enqueueData(["status": status, "number": number]).local
  try await Task.sleep(for: .seconds(1))
}
