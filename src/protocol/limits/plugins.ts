import { LATER, SOON } from './retries.js'
import { DAY, KiB, MiB, MINUTE, SECOND } from './units.js'

/** Limits of plugins and their sandboxes. Sizes in bytes, times in ms. */
export const pluginsLimits = {
  plugins: {
    packageFiles: 4096,
    packageBytes: 64 * MiB,
    /** Names below a package, directories and special files included. */
    packageEntries: 65_536,
    /** How long a copy of content that nobody approves any more is kept. */
    copyRetention: 7 * DAY,
    /** Of those who want one copy looked at or made, that wait for their turn. */
    copiesWaiting: 4096,
    packagesPerRoot: 512,
    /** Milliseconds for one file of a directory of tools to be loaded. */
    toolFile: 5000,
    manifestBytes: 256 * KiB,
    frameBytes: 1 * MiB,
    /** Values in one frame, on all levels together: as many as it has room for, since the bytes of a file are one each. Lists and objects among them, and names of members. */
    frameValues: 512 * KiB,
    frameContainers: 65_536,
    frameKeys: 32_768,
    logLineBytes: 64 * KiB,
    logLinesPerSecond: 50,
    /** Bytes waiting for a child that does not read, beyond which it counts as failed. */
    inputBacklog: 8 * MiB,
    /** Frames of a generation that are no protocol, beyond which it counts as failed: in all, and within one second. */
    badFrames: 10_000,
    badFramesPerSecond: 1000,
    pendingCalls: 128,
    reverseQueue: 64,
    brokerInput: 256 * KiB,
    brokerOutput: 512 * KiB,
    operationBytes: 256,
    /** What a plugin may say of the progress of its calls: in one second, and at once. */
    progressPerSecond: 20,
    progressBytes: 16 * KiB,
    /** Files beside the result of one tool call. */
    attachments: 16,
    /** Parts of a kind of the plugin's own in one answer, and how long the data of one may be. */
    messageParts: 16,
    messagePartBytes: 65_536,
    streams: 32,
    streamQueue: 64,
    streamItemBytes: 256 * KiB,
    streamBytes: 16 * MiB,
    /** How long a plugin may take to end the stream of a socket whose client has closed. */
    socketClose: 2 * SECOND,
    mediaBytes: 786_432,
    initialize: 8 * SECOND,
    shutdownGrace: 1500,
    callTimeout: 60 * SECOND,
    callTimeoutMin: 1 * SECOND,
    callTimeoutMax: 600 * SECOND,
    /** How long a superseded generation may finish its calls before it is retired. */
    drain: 60 * SECOND,
    /** The same for one that was switched off. */
    offDrain: 10 * SECOND,
    /** An instance that ended by itself; its failures are forgotten after the window. */
    restart: { first: 250, factor: 2, tries: 3 },
    restartWindow: 60 * SECOND,
    installRetry: LATER,
    recheck: SOON,
    /** How long changes of plugin directories are gathered, and how long what they said is believed though no change was told. */
    lookDebounce: 50,
    relook: 30 * SECOND,
    idleTeardown: 60 * MINUTE,
    perWorkspace: 256,
    tools: 512,
    declarations: 1024,
    /** Models of one provider; agents, commands, skills or sections of one answer. Whoever lists them pays for each. */
    models: 1024,
    listed: 1024,
    /** Names of the headers of one answer or request, and characters of them all. */
    headers: 256,
    headerText: 64 * KiB,
    /** Of a tool as a hook defines it, as JSON. */
    definitionBytes: 64 * KiB,
    routeBody: 16 * MiB,
    routeSegments: 64,
    eventQueue: 256,
    /** Events one plugin may publish per second. */
    publishedPerSecond: 100,
    /** How long a list of agents, commands, skills, sections or settings waits for one plugin, and a list of tools for its hooks. */
    serviceWait: 8 * SECOND,
    /** How long a request to a model waits for a plugin that renders the prompt of its agent. */
    promptWait: 5 * SECOND,
    /** How long a model waits for its provider to tell its limits, the first time; many providers never do. */
    metadataWait: 1 * SECOND,
    /** Age at which the answer of a service is asked for anew, while it still serves. */
    serviceAge: 5 * SECOND,
    /** System context of one plugin. */
    contextBytes: 64 * KiB,
    /** Answers of one hook `tool.definition` that are remembered, and characters of a question and its answer beyond which they are not. */
    rememberedDefinitions: 1024,
    rememberedBytes: 16 * KiB,
    legacyResponse: 4 * MiB,
    /** Processes of one hook command at a time. */
    legacyProcesses: 8,
    legacyTimeout: 10 * SECOND,
    legacyTimeoutMin: 100,
    legacyTimeoutMax: 120 * SECOND,
    installTimeout: 5 * MINUTE,
    /** Plugins whose offers are remembered from server to server, and bytes of each. */
    offers: 512,
    offerBytes: 1 * MiB,
    /** How long a server is left alone before plugins start that nobody has called, once the last of them was offered. */
    wakeAfter: 2 * SECOND,
  },
  lua: {
    heapBytes: 16 * MiB,
    /** Resident size of a sandbox process at which it is ended from outside. */
    processBytes: 256 * MiB,
    load: 250,
    callback: 30 * SECOND,
    hostCall: 10 * SECOND,
    /** How much longer than a budget the watchdog outside waits before it kills. */
    watchdogGrace: 250,
    instructions: 10_000_000,
    instructionStep: 1000,
    queue: 64,
    streamItems: 4096,
    /** Stream items sent in one go; the host queues no more than `plugins.streamQueue`. */
    pacedItems: 32,
    sourceBytes: 1 * MiB,
    /** Levels of nested arrays and objects that cross between JSON and Lua. */
    depth: 200,
    /** What `print` may write in one callback. */
    printLines: 1000,
    printBytes: 256 * KiB,
  },
} as const
