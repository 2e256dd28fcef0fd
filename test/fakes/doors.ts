import { createHash } from 'node:crypto'
import type { NativeHost } from '../../src/ports/plugin.js'
import { createFileStateDoor } from '../../src/actors/session/restore/state-notes.js'

const unused = (): never => {
  throw new Error('this test has no such door')
}

/** Doors of a native host for plugins that use none of them. */
export const noDoors: Pick<
  NativeHost,
  | 'rows'
  | 'artifacts'
  | 'sandbox'
  | 'programs'
  | 'fileStates'
  | 'sessions'
  | 'search'
  | 'models'
  | 'media'
  | 'checkouts'
  | 'git'
  | 'namedPrograms'
  | 'agents'
  | 'hasAgent'
  | 'skills'
  | 'switchedOff'
  | 'stopping'
  | 'actors'
  | 'offersChanged'
  | 'serverUrl'
  | 'configEntries'
  | 'installationConfig'
> = {
  artifacts: { open: unused },
  rows: { get: unused, list: unused, commit: unused, parting: unused },
  sandbox: { isOn: async () => false, whyMissing: async () => 'this test has none', placeOf: unused, wrap: unused },
  programs: {
    standing: unused,
    isDenied: unused,
    find: unused,
    open: unused,
    run: unused,
    accept: unused,
    takeBack: unused,
    accepted: unused,
  },
  fileStates: createFileStateDoor(
    { sha256: (data) => createHash('sha256').update(data).digest('hex') },
    async (_session, _sha256, content) => content.length < 8_000_000,
  ),
  models: { ask: unused },
  media: { isThere: () => false, make: unused },
  search: {
    open: unused,
    step: unused,
    head: unused,
    discard: unused,
    close: unused,
    parts: unused,
    useVectors: unused,
    unembedded: unused,
    putVectors: unused,
  },
  agents: unused,
  hasAgent: unused,
  skills: unused,
  switchedOff: async () => undefined,
  checkouts: { origins: unused },
  git: { open: unused, apart: unused },
  namedPrograms: { named: async () => [] },
  offersChanged: () => undefined,
  serverUrl: () => undefined,
  configEntries: { brought: async () => ({}), definer: async () => undefined, switchEntry: unused },
  installationConfig: async () => ({}),
  actors: { add: () => undefined },
  stopping: new AbortController().signal,
  sessions: {
    create: unused,
    prompt: unused,
    abort: unused,
    move: unused,
    clearQueue: unused,
    get: unused,
    isBusy: unused,
    settled: unused,
    outcome: unused,
    tell: unused,
    follow: unused,
    begin: unused,
    backgroundTasks: unused,
    endJobs: unused,
    isQuiet: unused,
    quiet: unused,
    usage: unused,
    changes: unused,
    refusals: unused,
    lastEnd: unused,
    answers: unused,
    note: unused,
  },
}
