import type { PluginRows, SessionDoor } from '../../src/actors/plugin/native-doors.js'

const unused = (): never => {
  throw new Error('this test has no such door')
}

/** Doors of a native host for plugins that use none of them. */
export const noDoors: { readonly rows: PluginRows; readonly sessions: SessionDoor } = {
  rows: { get: unused, list: unused, commit: unused },
  sessions: { create: unused, prompt: unused, abort: unused, get: unused, isBusy: unused, settled: unused, outcome: unused },
}
