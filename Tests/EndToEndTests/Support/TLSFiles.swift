// SPDX-License-Identifier: Apache-2.0

/// A certificate that signs itself, for 127.0.0.1, and its key. Nothing trusts it and nothing else has it.
enum TLSFiles {
  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBkDCCATagAwIBAgIUfm+zNWUIwBngIUFiC9hFjXaf16EwCgYIKoZIzj0EAwIw
    FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMjAxMjk0N1oYDzIxMjYxMDI5
    MDEyOTQ3WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
    PQMBBwNCAARj4APM58HBdeLS6Q4S34KQiXUTghu/Su3Nziacp9j20OMd+WhDjLtC
    FY7klYjf38dpeB9PJZT162AqH5GFbuSRo2QwYjAdBgNVHQ4EFgQUlgBnkOhtOTkX
    lcZg1xdk74p76YYwHwYDVR0jBBgwFoAUlgBnkOhtOTkXlcZg1xdk74p76YYwDwYD
    VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
    IBhCwqn4Iu3IS0B5vi5qZUjIkyYswWH5cCATWQaQSSeSAiEAiSCCZZlLuGWu77H0
    qhhHqcPZ5DrfMv2+wZjLd3C4EHs=
    -----END CERTIFICATE-----

    """

  static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgRI30utrrEHUMlgRg
    4NLLA3mfvnbdvKMx1W9aMaAILZShRANCAARj4APM58HBdeLS6Q4S34KQiXUTghu/
    Su3Nziacp9j20OMd+WhDjLtCFY7klYjf38dpeB9PJZT162AqH5GFbuSR
    -----END PRIVATE KEY-----

    """
}
