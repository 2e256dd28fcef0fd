import type { NativeHost } from '../../src/actors/plugin/native/native.js'

const unused = (): never => {
  throw new Error('this test has no such door')
}

/** Doors of a native host for plugins that use none of them. */
export const noDoors: Pick<
  NativeHost,
  'rows' | 'sandbox' | 'sessions' | 'checkouts' | 'git' | 'namedPrograms' | 'skills' | 'switchedOff' | 'stopping' | 'actors'
> = {
  rows: { get: unused, list: unused, commit: unused },
  sandbox: { isOn: async () => false, placeOf: unused, wrap: unused },
  skills: unused,
  switchedOff: async () => undefined,
  checkouts: { origins: unused },
  git: { open: unused, apart: unused },
  namedPrograms: { named: async () => [] },
  actors: { add: () => undefined },
  stopping: new AbortController().signal,
  sessions: {
    create: unused,
    prompt: unused,
    abort: unused,
    clearQueue: unused,
    get: unused,
    isBusy: unused,
    settled: unused,
    outcome: unused,
  },
}
