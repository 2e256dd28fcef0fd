/** Every number the service promises, named once (service.md Limits; threat-model §7). Sizes in bytes, times in ms. */

const KiB = 1024
const MiB = 1024 * KiB
const SECOND = 1000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

export const LIMITS = {
  http: {
    jsonBody: 2 * MiB,
    /** Of operations that take a prompt: its text, and the contents of attached files. */
    promptBody: 3 * MiB,
    headerBlock: 16 * KiB,
    url: 8 * KiB,
    headersTimeout: 15 * SECOND,
    bodyTimeout: 120 * SECOND,
    keepAlive: 60 * SECOND,
    jsonDepth: 128,
    /** Values in one JSON text, on all levels together. */
    jsonValues: 16_384,
    refusedBody: 64 * KiB,
    largeAnswer: 64 * KiB,
    sockets: 2048,
    socketsPerAddress: 512,
  },
  /** Wrong tokens of one address: at once, ms until another one, and addresses that are remembered. */
  guesses: { burst: 100, interval: 1 * SECOND, peers: 4096 },
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
    /** Of all prompts that wait for one session, as JSON. */
    queueBytes: 32 * MiB,
    /** Parts of one prompt, and names in its table of tools. */
    promptParts: 1000,
    /** Characters of a prompt from which on only its admission tells its content, not the change of the queue. */
    longPrompt: 256 * KiB,
    permissionRules: 1000,
    faultRetry: 250,
    faultRetryMax: 15 * SECOND,
  },
  /**
   * States of files for undo: `inlineBytes` of one state and `partBytes` of all states of a call stand in its part, larger ones are kept
   * beside, each up to `stateBytes` and together up to `storedBytes`; of a command up to `partFiles` changes, found outside of a repository
   * among `treeFiles` files. `lateCompare`: time to compare after an aborted command. `faults`: attempts to take a failed restore back.
   */
  undo: {
    inlineBytes: 128 * KiB,
    partBytes: 256 * KiB,
    stateBytes: 64 * MiB,
    storedBytes: 2048 * MiB,
    files: 10_000,
    atOnce: 8,
    faults: 4,
    treeFiles: 1000,
    partFiles: 1500,
    compare: 30 * SECOND,
    lateCompare: 600,
  },
  titles: { atOnce: 4, waiting: 100, timeout: 30 * SECOND },
  compaction: {
    /** Silence of the model that writes a summary before what it has written is taken. */
    stall: 240 * SECOND,
    /** How often the machine hears that it still writes. */
    heard: 1 * SECOND,
    /** Characters of a summary, of an output of a tool in what is summarised, and of a broken-off answer that still counts as a summary. */
    summary: 32_000,
    toolOutput: 2000,
    partial: 200,
    /** Characters a model may write before its summary is cleaned of what is none. */
    answer: 128 * KiB,
    /** Automatic compactions that fail in one run before none is begun in it any more. */
    faults: 2,
    /** Models whose way of counting is remembered. */
    models: 256,
  },
  store: { sequenceBlock: 65_536, walBytes: 64 * MiB, flushInterval: 1 * SECOND },
  /**
   * `graceful` is the whole of an orderly stop, with time for plugins that drain. Before these, answers under way and clients that
   * hear nothing are waited for (`answers`), then sessions, whose runs end within `run.abort`: without such plugins it takes 3 s at most.
   */
  stop: { graceful: 10 * SECOND, answers: 1 * SECOND, sessions: 1500 },
  run: {
    abort: 900,
    concurrentTools: 10,
    permissionRounds: 4,
    approvals: 2000,
    retries: 3,
    retryInitial: 2 * SECOND,
    retryMax: 30 * SECOND,
    retryLongest: 60 * SECOND,
    toolInputInterval: 45,
    doomLoop: 3,
    /** Tool calls of one answer of a model, and bytes of the arguments of one inside the JSON of its event; its result needs room as well. */
    callsPerStep: 64,
    callBytes: 512 * KiB,
    continuations: 10,
    /** How long what an unattended run asks waits for somebody. */
    unattendedWait: 10 * MINUTE,
  },
  provider: {
    connect: 10 * SECOND,
    firstByte: 300 * SECOND,
    idle: 120 * SECOND,
    trailer: 2 * SECOND,
    eventBytes: 1 * MiB,
    stepBytes: 32 * MiB,
    /** Tokens that one step can be believed to take. */
    stepTokens: 1_000_000_000,
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
  bundles: {
    /** Of one that is imported. */
    bytes: 1024 * MiB,
    /** Of one message of it, or whatever stands between two. */
    valueBytes: 16 * MiB,
    /** Of what is written of one that is exported at a time. */
    pieceBytes: 256 * KiB,
  },
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
    /** Values in one frame, on all levels together. */
    frameValues: 65_536,
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
    restarts: 3,
    restartWindow: 60 * SECOND,
    restartDelay: 250,
    recheck: 1 * SECOND,
    /** How long changes of plugin directories are gathered, and how long what they said is believed though no change was told. */
    lookDebounce: 50,
    relook: 30 * SECOND,
    idleTeardown: 60 * MINUTE,
    perWorkspace: 256,
    tools: 512,
    declarations: 1024,
    routeBody: 16 * MiB,
    routeSegments: 64,
    eventQueue: 256,
    /** Events one plugin may publish per second. */
    publishedPerSecond: 100,
    /** How long a list of agents, commands, skills, sections or settings waits for one plugin, and a list of tools for its hooks. */
    serviceWait: 8 * SECOND,
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
  workflows: {
    fileBytes: 512 * KiB,
    nameLength: 1000,
    frontmatterBytes: 16 * KiB,
    idLength: 200,
    /** Mistakes of one file that are told. */
    diagnostics: 32,
    permissionGroups: 128,
    permissionPatterns: 1024,
    textLength: 4096,
    preview: 10,
    previewMax: 1000,
    historyDefault: 50,
    historyMax: 200,
    debounce: 150,
    lease: 5 * MINUTE,
    /** How long a claim that failed waits for its next attempt. */
    claimRetry: 1 * SECOND,
    filesPerRoot: 4096,
    folders: 512,
    depth: 16,
    /** Text of all workflow files that is kept in memory. */
    sourceBytes: 64 * MiB,
    /** Workspaces whose workflows run; the one that was used longest ago makes room, and a use is noted this often. */
    workspaces: 1024,
    useNoted: 60 * MINUTE,
    /** A storm of file events delays the look at the files no longer than this. */
    debounceMost: 500,
    /** How often directories that do not exist yet are looked for. */
    appearance: 500,
    /** How often directories are looked at although no change was told, and which of these looks is at every file. */
    relook: 60 * SECOND,
    relookAll: 10,
    /** How far the timer of the schedule trusts itself; the wall clock is read this often. */
    tick: 10 * SECOND,
    /** Runs under way in the whole service; what is due beyond it waits. */
    running: 64,
    /** Finished runs kept for each activation. */
    runsKept: 1000,
    /** Contents of a workflow that stay accepted in its workspace. */
    acceptedContents: 100,
    /** How soon what could not be told, or is only missing its directory, is looked at again; longer each time, until `relook`. */
    recheck: 250,
  },
  vcs: {
    /** One call of git. */
    gitTimeout: 30 * SECOND,
    /** Calls of git at once, and how many wait. */
    git: { atOnce: 8, waiting: 256 },
    outputBytes: 32 * MiB,
    errorText: 4096,
    /** How long after the last question a checkout is followed, and how many are. */
    idle: 60 * MINUTE,
    followed: 32,
    /** An untracked file whose lines are counted. */
    countedBytes: 16 * MiB,
    countedAtOnce: 32,
  },
  /** What is read of repositories; beyond it a repository counts as one that cannot be read. */
  git: {
    pointerBytes: 16 * KiB,
    configBytes: 1 * MiB,
    attributesBytes: 1 * MiB,
    indexBytes: 64 * MiB,
    /** Submodules whose settings are looked at for one command. */
    submodules: 64,
    packedRefsBytes: 32 * MiB,
    replacements: 1024,
    /** All pack indexes of a repository together; the same for its commit graph. */
    packIndexBytes: 96 * MiB,
    packs: 256,
    /** Of one object, and of all that are read for one answer. */
    objectBytes: 1 * MiB,
    objectsBytes: 512 * MiB,
    /** Commits that are read, one by one, to find the first one of a history. */
    commits: 250_000,
    pageBytes: 16 * MiB,
    /** Heads whose first commit is remembered. */
    histories: 256,
    /** Repositories whose index is kept, as far as it matters. */
    indexes: 32,
  },
  terminals: {
    /** Terminals at a time. */
    count: 64,
    /** Output kept of each, for replay; evicted from the front in blocks. */
    historyBytes: 2 * MiB,
    blockBytes: 64 * KiB,
    /** Connections to one terminal at a time. */
    clients: 16,
    /** How far the foremost client may be behind before the program has to wait, and before it goes on. */
    lagBytes: 1 * MiB,
    lagResume: 256 * KiB,
    /** Input that a program has not read: beyond it a client is read no further, and beyond the bound it is cut off. */
    inputBytes: 64 * KiB,
    inputBacklog: 8 * MiB,
    ticketAge: 30 * SECOND,
    /** Bytes of randomness in a ticket, and tickets that may wait to be used. */
    ticketBytes: 24,
    tickets: 1024,
    titleLength: 256,
    commandParts: 256,
    argumentLength: 16_384,
    sizeMost: 10_000,
    cols: 80,
    rows: 24,
    /** How long the end of a terminal may take; its processes are killed well before. */
    end: 5 * SECOND,
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
    /** Ids whose crashes are remembered. */
    crashes: 1024,
  },
  config: { fileBytes: 1 * MiB, markdownBytes: 512 * KiB, filesPerKind: 4096 },
} as const
