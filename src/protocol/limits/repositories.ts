import { GiB, KiB, MiB, MINUTE, SECOND } from './units.js'

/** Limits of repositories. Sizes in bytes, times in ms. */
export const repositoriesLimits = {
  vcs: {
    /** One call of git. */
    gitTimeout: 30 * SECOND,
    /** One step of a clone; clones at once, and how many wait. */
    cloneTimeout: 10 * MINUTE,
    /** What is fetched for a clone, and the files that are checked out. */
    cloneBytes: 8 * GiB,
    clones: { atOnce: 2, waiting: 16 },
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
  lsp: {
    /** Files and directories one look at a workspace counts. */
    scannedFiles: 10_000,
    scannedDirectories: 10_000,
    /** Entries of each list of evidence. */
    evidence: 8,
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
} as const
