import { KiB, MiB, MINUTE, SECOND } from './units.js'

/** Limits of what the host does for plugins (plugin-protocol §2.5). Sizes in bytes, times in ms. */
export const brokersLimits = {
  brokers: {
    /** Calls of one package for one capability in a minute, whatever generations and workspaces it has. */
    callsPerMinute: 1200,
    minute: MINUTE,
    /** Calls of one lease that wait for the outside at the same time. */
    running: 16,
    /** What one lease keeps open: answers that are read, programs, tasks. */
    open: 32,
    /** Changes of its own config that one plugin may make in a minute, and bytes of that config. */
    configWrites: 60,
    configBytes: 64 * KiB,
    /** How long what is open when a lease is revoked may take to end. */
    free: 2 * SECOND,
  },
  pluginNetwork: {
    /** Of a request of a plugin: address, headers together, and body. */
    urlBytes: 8 * KiB,
    headers: 100,
    headerBytes: 16 * KiB,
    uploadBytes: 16 * MiB,
    /** Of an answer that is given whole: as much as the output of a broker has room for, as base64. */
    wholeBytes: 320 * KiB,
    /** Of an answer that is given as text, as JSON spells it. */
    textBytes: 448 * KiB,
    /** Of an answer that is read piece by piece. */
    streamBytes: 256 * MiB,
    /** One piece, and bytes that are read ahead of the plugin. */
    pieceBytes: 128 * KiB,
    /** Until the headers of the answer, between two pieces of it, and from begin to end. */
    header: 60 * SECOND,
    idle: 60 * SECOND,
    total: 10 * MINUTE,
    /** Bytes of one package in a minute, both ways. */
    bytesPerMinute: 512 * MiB,
    hosts: 64,
  },
} as const
