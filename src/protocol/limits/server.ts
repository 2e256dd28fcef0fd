import { DAY, KiB, MiB, SECOND } from './units.js'

/** Limits of the server itself: requests, the stream, the store, the inspector. Sizes in bytes, times in ms. */
export const serverLimits = {
  /** What a write has left is removed when nothing changed it for so long. */
  leftovers: { age: 60 * 60 * SECOND },
  http: {
    jsonBody: 2 * MiB,
    /** Of operations that take a prompt: its text, and the contents of attached files. */
    promptBody: 3 * MiB,
    /** Requests that begin in one turn of the event loop. */
    begunInTurn: 8,
    /** Requests that wait for those before them on one connection: beyond so many it is not read; beyond so many on all, it is cut. */
    waiting: { unread: 64, all: 16_384 },
    headerBlock: 16 * KiB,
    url: 8 * KiB,
    headersTimeout: 15 * SECOND,
    bodyTimeout: 120 * SECOND,
    keepAlive: 60 * SECOND,
    /** Silence of an answer after which its peer is told that it is being worked on, again and again. */
    interim: 60 * SECOND,
    jsonDepth: 128,
    /** Values in one JSON text, on all levels together. */
    jsonValues: 16_384,
    refusedBody: 64 * KiB,
    /** What is still read, and thrown away, of a body that was refused; silence after which no more of it is waited for. */
    lingerBytes: 32 * MiB,
    lingerSilence: 2 * SECOND,
    largeAnswer: 64 * KiB,
    sockets: 2048,
    /** Further ones when all are in use, for what anybody may ask and for who shows a credential. */
    socketsReserved: 16,
    socketsPerAddress: 512,
  },
  /**
   * JSON of others: values, lists and objects among them, and names of members, of an answer of a service or an event of a model, of a message of a server of
   * tools or of a language, and of the catalog of models. A list of tools or of places of a symbol has some hundred or thousand of them.
   */
  foreign: {
    answerValues: 256 * KiB,
    answerContainers: 16_384,
    answerKeys: 65_536,
    messageValues: 256 * KiB,
    messageContainers: 32_768,
    messageKeys: 65_536,
    catalogValues: 512 * KiB,
  },
  /** Wrong tokens of one address: at once, ms until another one, and addresses that are remembered. */
  guesses: { burst: 100, interval: 1 * SECOND, peers: 4096 },
  events: {
    replayPageDefault: 1000,
    replayPageMax: 5000,
    backlogRecords: 16_384,
    backlogBytes: 8 * MiB,
    /** What all readers of one caller together may leave waiting; of what is stored, what one is sent at once. */
    readerBytes: 64 * MiB,
    replayPageBytes: 256 * KiB,
    heartbeat: 10 * SECOND,
    writeStall: 30 * SECOND,
    retainedAge: 7 * DAY,
    retainedRows: 2_000_000,
    retainedBytes: 1024 * MiB,
    recordBytes: 1 * MiB,
    negativeFamilyCache: 16_384,
    activityInterval: 15 * SECOND,
  },
  store: {
    sequenceBlock: 65_536,
    walBytes: 64 * MiB,
    /** Copies of the database from before its schema changed, which an older svc can go on with. */
    keptSchemas: 3,
    /** With less room on the disk of the state the server counts as not ready; how long what was seen is believed. */
    freeBytes: 32 * MiB,
    readinessAge: 5 * SECOND,
    flushInterval: 1 * SECOND,
    keptApart: 256 * KiB,
    keptApartOfMany: 2 * KiB,
    pieceOfContent: 512 * KiB,
  },
  /**
   * `graceful` is the whole of an orderly stop, with time for plugins that drain. Before these, answers under way and clients that
   * hear nothing are waited for (`answers`), then sessions, whose runs end within `run.abort`: without such plugins it takes 3 s at most.
   */
  stop: { graceful: 10 * SECOND, answers: 1 * SECOND, sessions: 1500 },
  directories: { entries: 10_000 },
  /** ms: two changes of a file that are closer together may leave it the same times, of which the coarsest in use are two seconds apart. */
  files: { grain: 2500 },
  /** Of the file of the log, before another one is begun; two are kept. */
  log: { fileBytes: 4 * MiB },
  audit: { pageDefault: 100, pageMax: 1000, retainedRows: 100_000 },
  sockets: {
    messageBytes: 1 * MiB,
    /** Silence after which a peer is asked whether it is still there; after twice as much it is gone. */
    heartbeat: 30 * SECOND,
    /** How long a peer may take for one message, and for its half of a close. */
    writeStall: 30 * SECOND,
    closeReason: 123,
  },
  inspector: {
    /** What is kept of the past while somebody looks. */
    records: 8192,
    bytes: 4 * MiB,
    /** How long records may wait to be sent together. */
    batch: 40,
    frameRecords: 500,
    /** Bytes a viewer has not taken, beyond which it is sent nothing more until it has. */
    viewerBacklog: 1 * MiB,
    viewers: 16,
    /** Characters of a payload that are shown, where the operator asked for payloads. */
    payload: 2000,
    /** How long the past is kept after the last viewer left, so that a page can be reloaded. */
    linger: 5000,
    /** Characters of the key of a plugin. */
    name: 8192,
    /** Lines of the log of a plugin that are kept, and characters of one. */
    pluginLines: 100,
    pluginLine: 500,
    /** Calls of a plugin that are remembered, characters of a name in one, and contributions that are listed. */
    pluginCalls: 32,
    pluginName: 128,
    pluginOffers: 200,
    /** Ids whose crashes are remembered. */
    crashes: 1024,
  },
  /**
   * `directories` are those whose configuration is kept, `folders` those that are watched for all of them. In ms: `settle` is how
   * long changes are gathered before they are told, `tellAgain` after what time what could not be told is, `look` how long a look is believed where
   * nothing is watched, `relook` where it is.
   */
  config: {
    fileBytes: 1 * MiB,
    /**
     * Of the files of a workspace: bytes and values of one configuration file, values of all that count, with what a definition in Markdown
     * counts for besides its own.
     */
    workspace: { fileBytes: 128 * KiB, values: 2048, allValues: 16_384, definition: 16 },
    /** What one look at the files of a directory may touch (`work.ts`). */
    work: 1024 * MiB,
    /** Changes through the API that are made or wait for their turn. */
    waiting: 64,
    markdownBytes: 512 * KiB,
    filesPerKind: 4096,
    directories: 64,
    folders: 8192,
    settle: 50,
    tellAgain: 1 * SECOND,
    look: 200,
    relook: 60_000,
  },
  /** Resources written through the API (http-contract §2.10); `waiting` are writes that wait for their turn. */
  management: {
    content: 512 * KiB,
    waiting: 1024,
    /** Files besides SKILL.md, bytes of one, of all together, characters of a path, and versions of one skill. */
    skills: { files: 32, fileBytes: 256 * KiB, bundleBytes: 1 * MiB, pathLength: 512, versions: 1024 },
    workspaces: { entries: 1024, registryBytes: 2 * MiB, nameBytes: 160 },
    /** Files whose first time is remembered, and bytes of what remembers them. */
    times: { entries: 4096, bytes: 4 * MiB },
  },
} as const
