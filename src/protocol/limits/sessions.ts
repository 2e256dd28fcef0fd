import { DAY, KiB, MiB, MINUTE, SECOND } from './units.js'

/** Limits of sessions, their runs, and what runs keep. Sizes in bytes, times in ms. */
export const sessionsLimits = {
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
    /** Of a history that is read, copied or sent in one turn of the event loop, unless one message is longer. */
    sliceCharacters: 512 * KiB,
    /** Messages of a history that was read, which are worked on in one turn of the event loop. */
    sliceMessages: 500,
    permissionRules: 1000,
    /** After a fault of ours: when its session looks again. */
    fault: { first: 250, factor: 2, most: 15 * SECOND },
  },
  /**
   * States of files for undo: `inlineBytes` of one state and `partBytes` of all states of a call stand in its part, larger ones are kept
   * beside, each up to `stateBytes` and together up to `storedBytes`; of a command up to `partFiles` changes, found outside of a repository
   * among `treeFiles` files. `lateCompare`: time to compare after an aborted command. `retry`: attempts to take a failed restore back.
   */
  undo: {
    inlineBytes: 128 * KiB,
    partBytes: 256 * KiB,
    stateBytes: 64 * MiB,
    storedBytes: 2048 * MiB,
    files: 10_000,
    atOnce: 8,
    retry: { first: 250, tries: 4 },
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
  run: {
    abort: 900,
    concurrentTools: 10,
    /** Until calls that are still open when the model has ended its answer are taken for long ones, ms: then the time of the model is told. */
    settlesSoon: 100,
    permissionRounds: 4,
    approvals: 2000,
    /** When a failed step is tried again, unless the provider says when; that is followed so far. */
    retry: { first: 2 * SECOND, factor: 2, most: 30 * SECOND, tries: 3 },
    retryLongest: 60 * SECOND,
    toolInputInterval: 45,
    doomLoop: 3,
    /** Tool calls of one answer of a model, and bytes of the arguments of one inside the JSON of its event; its result needs room as well. */
    callsPerStep: 64,
    /** Of an agent that works by itself, whose turn is one step. */
    callsPerTurn: 1000,
    /** Files that a model made in one step, and that are kept. */
    filesPerStep: 16,
    /** Thoughts of one answer that are parts of their own; what is thought after them belongs to the last. */
    thoughtsPerStep: 256,
    /** Texts of a turn of an agent that works by itself that are parts of their own; what is said after them belongs to the last. */
    textsPerTurn: 1000,
    callBytes: 512 * KiB,
    continuations: 10,
    /** How long what an unattended run asks waits for somebody. */
    unattendedWait: 10 * MINUTE,
    /** Requests nobody answered that are told of one run. */
    toldRefusals: 100,
  },
  tools: {
    outputLines: 2000,
    outputBytes: 50 * KiB,
    lineLength: 2000,
    captureBytes: 1 * MiB,
    artifactBytes: 32 * MiB,
    artifactRetention: 7 * DAY,
    storedBytes: 1024 * MiB,
    readLines: 2000,
    attachmentBytes: 20 * MiB,
    bashTimeout: 120 * SECOND,
    bashTimeoutMax: 600 * SECOND,
    killGrace: 100,
    pipeGrace: 100,
    searchTimeout: 45 * SECOND,
    /** Searches of files that go on at once, of all sessions, and that wait. */
    searches: { atOnce: 32, waiting: 1000 },
    shellEnvironmentAge: 5 * MINUTE,
  },
  /** `expiredAtOnce`: that are deleted in one turn. */
  artifacts: { uploadBytes: 26_214_400, expiredAtOnce: 100 },
  bundles: {
    /** Of one that is imported. */
    bytes: 1024 * MiB,
    /** Of one message of it, or whatever stands between two. */
    valueBytes: 16 * MiB,
    /** The same in words, numbers, texts and signs between them; names of members among them; levels that are open at a time. */
    tokens: 512 * KiB,
    names: 65_536,
    depth: 256,
    /** Of what is written of one that is exported at a time. */
    pieceBytes: 256 * KiB,
    /** Of an artifact in one piece of a bundle; a multiple of three, so that base64 fills it. */
    contentBytes: 192 * KiB,
    /** Of one that is imported. */
    artifacts: 10_000,
  },
} as const
