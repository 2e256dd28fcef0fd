import { SOON } from './retries.js'
import { GiB, KiB, MiB, MINUTE, SECOND } from './units.js'

/** Limits of workflows. Sizes in bytes, times in ms. */
export const workflowsLimits = {
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
    claimRetry: SOON,
    filesPerRoot: 4096,
    folders: 512,
    depth: 16,
    /** Text of all workflow files that is kept in memory. */
    sourceBytes: 64 * MiB,
    /** What one look at a directory may touch (`work.ts`). */
    lookWork: 4 * GiB,
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
    /** How soon what could not be told, or is only missing its directory, is looked at again. */
    recheck: { first: 250, factor: 2, most: 60 * SECOND },
  },
} as const
