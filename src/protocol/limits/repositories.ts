import { GiB, KiB, MiB, MINUTE, SECOND } from './units.js'

/** Limits of repositories. Sizes in bytes, times in ms. */
export const repositoriesLimits = {
  vcs: {
    /** One call of git. */
    gitTimeout: 30 * SECOND,
    /** After which it is looked for a pipe in the worktree, at which git may wait, and in how many directories. */
    gitLate: 2 * SECOND,
    lateDirectories: 20_000,
    /** One step of a clone; clones at once, and how many wait. */
    cloneTimeout: 10 * MINUTE,
    /** What is fetched for a clone, and the files that are checked out; how many these are. */
    cloneBytes: 8 * GiB,
    cloneFiles: 1_000_000,
    clones: { atOnce: 2, waiting: 16 },
    /** Calls of git at once, and how many wait; the same in one repository. */
    git: { atOnce: 8, waiting: 256 },
    gitOfOne: { atOnce: 2, waiting: 128 },
    outputBytes: 32 * MiB,
    /** Larger files are compared as binary, without being held whole; what git may take of the memory at once, as it writes such numbers. */
    comparedBytes: 64 * MiB,
    gitAllocation: '1g',
    errorText: 4096,
    /** How long after the last question a checkout is followed, and how many are. */
    idle: 60 * MINUTE,
    followed: 32,
    /** An untracked file whose lines are counted. */
    countedBytes: 16 * MiB,
    countedAtOnce: 32,
    /** Files of one patch that is applied. */
    patchedFiles: 5000,
  },
  lsp: {
    /** Files and directories one look at a workspace counts. */
    scannedFiles: 10_000,
    scannedDirectories: 10_000,
    /** Entries of each list of evidence. */
    evidence: 8,
    /** Looks at workspaces that are remembered, and directories of such a one. */
    looks: 4,
    lookDirectories: 2000,
    initialize: 30 * SECOND,
    /** To a server that runs already. */
    connect: 3 * SECOND,
    request: 5 * SECOND,
    /** What cargo says of a workspace: how long it is waited for, and how much of it is read. */
    cargo: 3 * SECOND,
    cargoBytes: 4 * MiB,
    /** How long diagnostics are waited for: by who asks, by who touches a file, by a tool that has changed some. */
    diagnosticsWait: 2 * SECOND,
    touchWait: 600,
    /** How long a server that finds nothing in a file it was just told of is given to find something. */
    settle: 250,
    toolWait: 3 * SECOND,
    shutdown: 250,
    /** A server that broke is started again no sooner; one that nobody asks is ended. */
    retry: { first: 2 * SECOND },
    idle: 15 * MINUTE,
    /** Servers that run at once; the one used longest ago ends. */
    clients: 16,
    /** Servers that are asked about one file. */
    perFile: 3,
    /** One message of a server, the head of it; what waits for a server that does not read. */
    messageBytes: 16 * MiB,
    headBytes: 4096,
    inputBacklog: 32 * MiB,
    /** Messages that wait to be looked at before the server has to wait. */
    waiting: 256,
    /** Messages of a server that are looked at in one turn of the event loop, and their bytes; those it may send in a window of time. */
    pace: { inTurn: 64, bytesInTurn: 256 * KiB, inWindow: 20_000, window: 10 * SECOND },
    /** What it may ask of us in `askedWindow`. */
    asked: 500,
    askedWindow: 10 * SECOND,
    stderrTail: 2000,
    /** Of one file that servers are told; of all that one server has open; how many it has. */
    documentBytes: 4 * MiB,
    openBytes: 32 * MiB,
    openDocuments: 64,
    /** Diagnostics of one file, characters of all of them, and of a server: files, and characters in all. */
    diagnostics: 1000,
    fileDiagnostics: 512 * KiB,
    diagnosticFiles: 1000,
    allDiagnostics: 16 * MiB,
    /** Changes of diagnostics are told at most so often. */
    updatedPause: 200,
    /** Places of one answer, other files that are read for it, characters of a text in it, depth of symbols. */
    places: 500,
    readFiles: 100,
    text: 16 * KiB,
    symbols: 100,
    symbolDepth: 16,
    symbolsInAll: 5000,
    /** Of diagnostics after a change by a model: errors told of each file, other files with errors, entries in the metadata. */
    toldErrors: 20,
    otherFiles: 8,
    toldEntries: 200,
  },
  /** What is read of repositories; beyond it a repository counts as one that cannot be read. */
  git: {
    /** How long a directory is taken for one without a project before it is looked at again, ms. */
    absent: 500,
    pointerBytes: 16 * KiB,
    configBytes: 1 * MiB,
    /** Of one file of settings. */
    settings: 32_768,
    /** Bytes of a path in an index, characters of a section of settings. */
    nameLength: 4096,
    /** Entries of an index for one path; entries of a split index that replace others. */
    samePaths: 64,
    replacedEntries: 16_384,
    /** Patterns of one attributes file that convert content. */
    attributes: 16_384,
    /** Bytes that are touched for one answer, of whatever is read for it: where files come from, of an index, of a history, of settings. */
    originWork: 1 * GiB,
    indexWork: 256 * MiB,
    historyWork: 1 * GiB,
    settingsWork: 64 * MiB,
    attributesBytes: 1 * MiB,
    indexBytes: 64 * MiB,
    /** Shared parts of split indexes, old ones included; directories that hold objects, of which git makes some 260. */
    sharedIndexes: 512,
    objectDirectories: 4096,
    /** Submodules whose settings are looked at for one command. */
    submodules: 64,
    /** Submodules that are looked for, whether they are there or not. */
    listedSubmodules: 4096,
    packedRefsBytes: 32 * MiB,
    packedRefs: 1_000_000,
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
} as const
