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
  sessions: { pageMax: 200, titleLength: 80, generatedTitleLength: 100, idleMemory: 60 * SECOND, queuePreview: 120, queueRows: 1000 },
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
    interactionWait: 24 * 60 * MINUTE,
    unattendedWait: 10 * MINUTE,
  },
  provider: {
    connect: 10 * SECOND,
    firstByte: 300 * SECOND,
    idle: 120 * SECOND,
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
  audit: { pageDefault: 100, pageMax: 1000, retainedRows: 100_000 },
  config: { fileBytes: 1 * MiB, markdownBytes: 512 * KiB, filesPerKind: 4096 },
} as const
