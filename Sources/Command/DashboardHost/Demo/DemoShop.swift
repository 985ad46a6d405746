// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import SeededRandom

/// A simulated shop: the writes of one client of the demo. They depend only on a seed. The amount of data is bounded,
/// so that the demo can run for days.
package struct DemoShop: Sendable {
  package static let orders = ResourcePath("orders")
  package static let users = ResourcePath("users")
  package static let messages = ResourcePath("chat/lobby/messages")

  private static let people = [
    ("ada", "Ada Lovelace"), ("grace", "Grace Hopper"), ("edsger", "Edsger Dijkstra"), ("barbara", "Barbara Liskov"),
    ("alan", "Alan Turing"), ("margaret", "Margaret Hamilton"), ("donald", "Donald Knuth"), ("radia", "Radia Perlman"),
    ("leslie", "Leslie Lamport"), ("yukihiro", "松本 行弘"), ("mona", "منى"), ("niklaus", "Niklaus Wirth"),
  ]
  private static let goods = [
    ("kettle", 2450), ("teacup", 650), ("tray", 1800), ("toaster", 3990), ("spoon", 120), ("lamp", 5400),
    ("blanket", 2999), ("clock", 1575),
  ]
  private static let cities = ["Amsterdam", "Lisboa", "İstanbul", "القاهرة", "台北", "São Paulo"]
  private static let stages = ["new", "paid", "packed", "shipped", "delivered"]
  private static let phrases = [
    "anyone packing %@?", "customer asks about %@", "%@ is on its way", "the label of %@ does not print",
    "who took the tape?", "lunch?", "printer works again 🎉", "back in five",
  ]

  /// The customers, who place orders and chat.
  package static let customers = ["ada", "grace", "edsger"]
  private static let orderLimit = 60
  private static let messageLimit = 40

  private var random: SeededGenerator
  private let customer: String?
  /// The newest orders and their stages. Stages only advance.
  private var openOrders: [(key: DocumentKey, stage: Int)] = []
  /// The delivered orders. They are deleted later.
  private var closedOrders: [DocumentKey] = []
  private var messageIDs: [DocumentKey] = []

  /// - Parameter customer: the customer who places orders and chats; `nil` for all customers.
  package init(seed: UInt64, customer: String? = nil) {
    random = SeededGenerator(seed: seed)
    self.customer = customer
  }

  private mutating func person() -> (String, String) {
    let anyone = random.pick(Self.people)
    return customer.flatMap { customer in Self.people.first { $0.0 == customer } } ?? anyone
  }

  /// The documents with which a new database starts, as one batch.
  package mutating func openingStock() -> [Mutation] {
    var batch = Self.people.map { id, name in
      set(
        Self.users.appending(id),
        [
          "name": .string(name), "city": .string(random.pick(Self.cities)), "active": .boolean(true),
          "orders": .integer(0), "joined": .timestamp(Timestamp(seconds: 1_700_000_000 + random.below(40_000_000))),
        ])
    }
    for (name, cents) in Self.goods {
      batch.append(
        set(
          ResourcePath("products").appending(name),
          ["name": .string(name), "price": .double(Double(cents) / 100), "stock": .integer(random.below(200) + 20)]))
    }
    batch.append(set(Self.messages.parent, ["topic": .string("packing and shipping"), "open": .boolean(true)]))
    for _ in 0..<12 { batch += newOrder() }
    for _ in 0..<6 { batch += newMessage() }
    return batch
  }

  /// The next event of the shop, as one batch.
  package mutating func nextEvent() -> [Mutation] {
    switch random.below(20) {
    case 0..<4: newOrder()
    case 4..<11: advancedOrder()
    case 11..<16: newMessage()
    case 16..<18: changedUser()
    default: removedMessage()
    }
  }

  /// The time until the next event, in milliseconds.
  package mutating func pause() -> Int { Int(random.below(1000)) + 500 }

  private mutating func newOrder() -> [Mutation] {
    if openOrders.count + closedOrders.count >= Self.orderLimit, !closedOrders.isEmpty {
      return [Mutation(key: closedOrders.removeFirst(), operation: .delete)]
    }
    let (user, name) = person()
    let lines = (0..<(random.below(3) + 1)).map { _ -> (String, Int, Int64) in
      let (good, cents) = random.pick(Self.goods)
      return (good, cents, random.below(4) + 1)
    }
    let total = lines.reduce(0) { $0 + Double($1.1) * Double($1.2) } / 100
    let items = lines.map { good, _, count in Value.map(["product": .string(good), "count": .integer(count)]) }
    var order = set(
      Self.orders.appending(AutomaticID.make(using: &random)),
      [
        "status": .string(Self.stages[0]), "total": .double(total), "items": .array(items), "user": .string(user),
        "shipTo": .map(["name": .string(name), "city": .string(random.pick(Self.cities))]),
      ])
    order.transforms = [FieldTransform(path: FieldPath("createdAt"), operation: .serverTimestamp)]
    openOrders.append((order.key, 0))
    if openOrders.count > 40 { closedOrders.append(openOrders.removeFirst().key) }
    let ordered = FieldTransform(path: FieldPath("orders"), operation: .increment(.integer(1)))
    return [order, patch(Self.users.appending(user), [:], transforms: [ordered])]
  }

  private mutating func advancedOrder() -> [Mutation] {
    guard !openOrders.isEmpty else { return newOrder() }
    let index = Int(random.below(Int64(openOrders.count)))
    openOrders[index].stage += 1
    let (key, stage) = openOrders[index]
    if stage == Self.stages.count - 1 {
      openOrders.remove(at: index)
      closedOrders.append(key)
    }
    let updated = FieldTransform(path: FieldPath("updatedAt"), operation: .serverTimestamp)
    return [patch(key.path, ["status": .string(Self.stages[stage])], transforms: [updated])]
  }

  private mutating func newMessage() -> [Mutation] {
    if messageIDs.count >= Self.messageLimit { return removedMessage() }
    let subject = openOrders.last.map { String($0.key.documentID.prefix(4)) } ?? "it"
    let phrase = random.pick(Self.phrases)
    let text = phrase.split(separator: "%@", omittingEmptySubsequences: false).joined(separator: subject)
    var message = set(
      Self.messages.appending(AutomaticID.make(using: &random)),
      ["from": .string(person().0), "text": .string(text), "reactions": .map([:])])
    message.transforms = [FieldTransform(path: FieldPath("sentAt"), operation: .serverTimestamp)]
    messageIDs.append(message.key)
    return [message]
  }

  private mutating func removedMessage() -> [Mutation] {
    guard messageIDs.count > 10 else { return newMessage() }
    return [Mutation(key: messageIDs.removeFirst(), operation: .delete)]
  }

  private mutating func changedUser() -> [Mutation] {
    let user = Self.users.appending(random.pick(Self.people).0)
    return [patch(user, ["city": .string(random.pick(Self.cities)), "active": .boolean(random.below(4) > 0)])]
  }

  private func set(_ path: ResourcePath, _ fields: Fields) -> Mutation {
    Mutation(key: DocumentKey(unchecked: path), operation: .set(fields))
  }

  private func patch(_ path: ResourcePath, _ fields: Fields, transforms: [FieldTransform] = []) -> Mutation {
    Mutation(
      key: DocumentKey(unchecked: path),
      operation: .patch(fields, FieldMask(fields.entries.map { FieldPath($0.name) })), transforms: transforms)
  }
}

extension SeededGenerator {
  /// A random number from 0 up to, but not including, the limit.
  package mutating func below(_ limit: Int64) -> Int64 { Int64.random(in: 0..<limit, using: &self) }
}
