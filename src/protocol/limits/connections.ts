import { KiB, MiB, MINUTE, SECOND } from './units.js'

/** Limits of stored credentials. Sizes in bytes (texts: characters), times in ms. */
export const connectionsLimits = {
  connections: {
    fileBytes: 1 * MiB,
    secret: 16 * KiB,
    label: 256,
    perProvider: 64,
    /** Another process that changes the file is waited for. */
    lockWait: 10 * SECOND,
    lockLook: 20,
  },
  signIn: {
    lifetime: 10 * MINUTE,
    /** How long its user is waited for: less than clients wait for an answer. */
    answer: 290 * SECOND,
    /** How long a plugin is waited for that says how somebody signs in at its provider. */
    pluginAnswer: 10 * SECOND,
    /** Ways to sign in of one provider of a plugin. */
    pluginMethods: 16,
    /** Sign-ins that go on. */
    open: 16,
    /** Attempts that are remembered. */
    attempts: 64,
    code: 16 * KiB,
    /** Characters of the code that somebody enters on another device, and of an address a browser is sent to. */
    userCode: 128,
    address: 8 * KiB,
    /** Between two questions whether a device is admitted, in s, whatever the server says. */
    devicePace: { quickest: 1, usual: 5, slowest: 60 },
    /** One request to an authorization server. */
    request: 15 * SECOND,
    answerBytes: 256 * KiB,
    /** A token that ends so soon is renewed first. */
    skew: 60 * SECOND,
    /** Another process that renews a token is waited for. */
    renewWait: 45 * SECOND,
    /** Locks of renewals: connections share them. */
    renewLocks: 16,
    /** Authorization servers whose addresses are remembered. */
    servers: 16,
  },
  usage: {
    account: 22 * SECOND,
    all: 35 * SECOND,
    atOnce: 4,
    answerBytes: 256 * KiB,
  },
} as const
