// SPDX-License-Identifier: Apache-2.0
/// How a person sees colours: with all three kinds of cones, or without one of them.
///
/// The matrices are those of Machado, Oliveira and Fernandes (2009) for full severity, applied to linear light.
enum ColorVision: String, CaseIterable, Hashable, Sendable {
  case normal, protanopia, deuteranopia, tritanopia

  func perceived(_ color: RGB) -> LinearRGB {
    let light = color.linear
    func channel(_ row: [Double]) -> Double {
      min(max(row[0] * light.red + row[1] * light.green + row[2] * light.blue, 0), 1)
    }
    let rows = matrix
    return LinearRGB(red: channel(rows[0]), green: channel(rows[1]), blue: channel(rows[2]))
  }

  /// The CIE76 difference of two colours as this person sees them.
  func difference(_ one: RGB, _ two: RGB) -> Double {
    Lab(perceived(one)).difference(to: Lab(perceived(two)))
  }

  private var matrix: [[Double]] {
    switch self {
    case .normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    case .protanopia:
      [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    case .deuteranopia:
      [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    case .tritanopia:
      [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    }
  }
}
