/** Every number the service promises, named once (service.md Limits; threat-model §7). Sizes in bytes, times in ms. */

const KiB = 1024
const MiB = 1024 * KiB
const SECOND = 1000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

export const LIMITS = {
  http: {
    jsonBody: 16 * MiB,
    headerBlock: 16 * KiB,
    url: 8 * KiB,
    headersTimeout: 15 * SECOND,
    bodyTimeout: 120 * SECOND,
    keepAlive: 60 * SECOND,
    jsonDepth: 128,
    refusedBody: 64 * KiB,
    largeAnswer: 64 * KiB,
    sockets: 2048,
    socketsPerAddress: 512,
  },
  events: {
    replayPageDefault: 1000,
    replayPageMax: 5000,
    backlogRecords: 16_384,
    backlogBytes: 8 * MiB,
    heartbeat: 10 * SECOND,
    writeStall: 30 * SECOND,
    retainedAge: 7 * DAY,
    retainedRows: 2_000_000,
    retainedBytes: 1024 * MiB,
    recordBytes: 1 * MiB,
    negativeFamilyCache: 16_384,
    activityInterval: 15 * SECOND,
  },
  sessions: {
    pageMax: 200,
    titleLength: 80,
    generatedTitleLength: 100,
    idleMemory: 60 * SECOND,
    queuePreview: 120,
    queueRows: 1000,
    faultRetry: 250,
    faultRetryMax: 15 * SECOND,
  },
  store: { sequenceBlock: 65_536, walBytes: 64 * MiB, flushInterval: 1 * SECOND },
  stop: { graceful: 10 * SECOND, sessions: 5 * SECOND },
  run: {
    abort: 900,
    concurrentTools: 10,
    permissionRounds: 4,
    retries: 3,
    retryInitial: 2 * SECOND,
    retryMax: 30 * SECOND,
    retryLongest: 60 * SECOND,
    toolInputInterval: 45,
    doomLoop: 3,
    continuations: 10,
    interactionWait: 24 * 60 * MINUTE,
    unattendedWait: 10 * MINUTE,
  },
  provider: {
    connect: 10 * SECOND,
    firstByte: 300 * SECOND,
    idle: 120 * SECOND,
    trailer: 2 * SECOND,
    eventBytes: 4 * MiB,
    stepBytes: 32 * MiB,
    errorBytes: 64 * KiB,
    discover: 3 * SECOND,
    discoverBytes: 1 * MiB,
    discoverModels: 512,
    discoverCache: 60 * SECOND,
  },
  tools: {
    outputLines: 2000,
    outputBytes: 50 * KiB,
    lineLength: 2000,
    captureBytes: 1 * MiB,
    artifactBytes: 32 * MiB,
    artifactRetention: 7 * DAY,
    readLines: 2000,
    attachmentBytes: 20 * MiB,
    bashTimeout: 120 * SECOND,
    bashTimeoutMax: 600 * SECOND,
    killGrace: 100,
    pipeGrace: 100,
    searchTimeout: 45 * SECOND,
    shellEnvironmentAge: 5 * MINUTE,
  },
  artifacts: { uploadBytes: 26_214_400 },
  directories: { entries: 10_000 },
  audit: { pageDefault: 100, pageMax: 1000, retainedRows: 100_000 },
  plugins: {
    packageFiles: 4096,
    packageBytes: 64 * MiB,
    /** Names below a package, directories and special files included. */
    packageEntries: 65_536,
    /** How long a copy of content that nobody approves any more is kept. */
    copyRetention: 7 * DAY,
    packagesPerRoot: 512,
    manifestBytes: 256 * KiB,
    frameBytes: 1 * MiB,
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
    streams: 32,
    streamQueue: 64,
    streamItemBytes: 256 * KiB,
    streamBytes: 16 * MiB,
    mediaBytes: 786_432,
    initialize: 8 * SECOND,
    shutdownGrace: 1500,
    callTimeout: 60 * SECOND,
    callTimeoutMin: 1 * SECOND,
    callTimeoutMax: 600 * SECOND,
    /** How long a superseded generation may finish its calls before it is retired. */
    drain: 60 * SECOND,
    restarts: 3,
    restartWindow: 60 * SECOND,
    restartDelay: 250,
    recheck: 1 * SECOND,
    idleTeardown: 60 * MINUTE,
    perWorkspace: 256,
    tools: 512,
    declarations: 1024,
    routeBody: 16 * MiB,
    routeSegments: 64,
    eventQueue: 256,
    /** Events one plugin may publish per second. */
    publishedPerSecond: 100,
    /** How long a list of agents, commands, skills, sections or settings waits for one plugin. */
    serviceWait: 8 * SECOND,
    /** How long a model waits for its provider to tell its limits, the first time; many providers never do. */
    metadataWait: 1 * SECOND,
    /** Age at which the answer of a service is asked for anew, while it still serves. */
    serviceAge: 5 * SECOND,
    /** System context of one plugin. */
    contextBytes: 64 * KiB,
    legacyResponse: 4 * MiB,
    /** Processes of one hook command at a time. */
    legacyProcesses: 8,
    legacyTimeout: 10 * SECOND,
    legacyTimeoutMin: 100,
    legacyTimeoutMax: 120 * SECOND,
    installTimeout: 5 * MINUTE,
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
  sockets: {
    messageBytes: 1 * MiB,
    /** Silence after which a peer is asked whether it is still there; after twice as much it is gone. */
    heartbeat: 30 * SECOND,
    /** How long a peer may take for one message, and for its half of a close. */
    writeStall: 30 * SECOND,
    closeReason: 123,
  },
  config: { fileBytes: 1 * MiB, markdownBytes: 512 * KiB, filesPerKind: 4096 },
} as const
