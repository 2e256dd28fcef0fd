import { KiB, MiB, SECOND } from './units.js'

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
} as const
