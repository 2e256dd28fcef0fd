import { KiB, MiB, MINUTE, SECOND } from './units.js'

/** Limits of servers of the Model Context Protocol (subsystems f; threat-model §4.6, 4.7, 4.12), and of formatters (subsystems b.12). Sizes in bytes unless they say otherwise, times in ms. */
export const serversLimits = {
  mcp: {
    /** Of each request and of the handshake, unless the configuration says otherwise; and the most it may say. */
    timeout: 30 * SECOND,
    timeoutMost: 30 * MINUTE,
    /** What a call that shows progress may take in all. */
    callMost: 30 * MINUTE,
    /** How long a step waits for servers that are being connected for the first time; those that are later join the next step. */
    firstWait: 10 * SECOND,
    /** One message of a server. */
    messageBytes: 16 * MiB,
    /** Messages of a server that are looked at in one turn of the event loop, and their bytes; those it may send in a window of time. */
    pace: { inTurn: 64, bytesInTurn: 256 * KiB, inWindow: 50_000, window: 10 * SECOND },
    /** Messages that wait for a program that does not read. */
    inputBacklog: 8 * MiB,
    /** Servers of a workspace, and workspaces with connections. */
    servers: 64,
    workspaces: 64,
    /** Of each list of a server: pages, entries, and all of it. */
    pages: 100,
    entries: 1000,
    listBytes: 2 * MiB,
    /** One definition of a tool with its schema; how deep that may go. */
    definitionBytes: 64 * KiB,
    schemaDepth: 40,
    /** Characters of a description, and of names. */
    description: 8192,
    name: 256,
    toolId: 64,
    /** What all tools of all servers may take of a request before they are behind `execute`, unless the configuration says otherwise. */
    toolBudget: 48 * KiB,
    /** Signatures that `execute` itself shows, characters; results of a search, and the most it may ask for. */
    signatures: 2000,
    found: 10,
    foundMost: 50,
    /** Text, pictures and sounds of one result; parts of it. */
    resultText: 8 * MiB,
    attachmentBytes: 4 * MiB,
    attachments: 20,
    contents: 1000,
    /** Lists are read anew so long after a server says that they have changed. */
    changedPause: 250,
    /** So often in `changesWindow`; what it says beyond that is looked at when the window is over. */
    changes: 20,
    changesWindow: 1 * MINUTE,
    /** A connection that was lost is made anew when it is used next; after so many in `strikeWindow` it rests so long. */
    retry: { first: 30 * SECOND, tries: 3 },
    strikeWindow: 1 * MINUTE,
    /** Fields that are asked for at once, and characters of what is asked. */
    questions: 20,
    /** Questions that it may have for the person in one call. */
    elicitations: 20,
    question: 2000,
    /** Answers of the model that a server may have in one call, and tokens of each, unless the configuration says otherwise; and the most it may say. */
    samplings: 10,
    samplingsMost: 100,
    samplingTokens: 4096,
    samplingTokensMost: 32_768,
    /** Characters of what it asks the model, and of an answer; messages of it. */
    samplingText: 256 * KiB,
    samplingMessages: 100,
    /** Log lines of a server that are told in a minute. */
    logLines: 60,
    authFile: 1 * MiB,
    /** What is kept about one server of it. */
    authEntry: 64 * KiB,
    /** Characters of why an authorization server refuses. */
    authReason: 500,
    /** How long somebody may take to sign in; each request about it; how long before its end a token is renewed. */
    attemptAge: 10 * MINUTE,
    discovery: 5 * SECOND,
    tokenSkew: 1 * MINUTE,
    authAnswer: 256 * KiB,
  },
  formatters: {
    /** Of one formatter on one file, and of all of them on the files of one call. */
    timeout: 10 * SECOND,
    callTimeout: 30 * SECOND,
    /** Of what one prints that is no text of a file; characters of it that are logged. */
    output: 16 * KiB,
    told: 500,
    /** A settings file that is looked at; folders above a file that are. */
    settings: 1 * MiB,
    folders: 64,
  },
} as const
