/** Defects of which nothing was known as the invariants were written: each is a sentence of the specification turned round. */
import type { NativeHost } from '../../src/ports/plugin.js'
import type { Defect } from './life.js'
import { SUBAGENTS, WORKFLOWS } from './rows.js'

/** Of a plugin, the host that it finds. */
const hostOf = (id: string, change: (host: NativeHost) => Partial<NativeHost>): Defect => ({
  plugin: (plugin) => (plugin.id === id ? { ...plugin, start: (host) => plugin.start({ ...host, ...change(host) }) } : plugin),
})

/** Files of workflows are read as if they said something else. */
const misread = (change: (text: string) => string): Defect =>
  hostOf(WORKFLOWS, ({ effects }) => ({
    effects: {
      ...effects,
      files: {
        ...effects.files,
        read: async (...given) => new TextEncoder().encode(change(new TextDecoder().decode(await effects.files.read(...given)))),
      },
    },
  }))

export const UNFITTED_DEFECTS: Readonly<Record<string, () => Defect>> = {
  'a schedule in the zone of the server': () => misread((text) => text.replace('"Europe/Berlin"', '"UTC"')),
  'a workflow that overlaps itself against its file': () =>
    misread((text) => text.replace('{"mode":"forbid"}', '{"mode":"allow","maxRunning":3}')),
  'a deletion that is acknowledged and not done': () => ({
    runtime: (runtime) => ({ ...runtime, sessions: { ...runtime.sessions, delete: async () => true } }),
  }),
  'an answer that is remembered for everything': () => ({
    store: (store) => ({
      ...store,
      approvals: {
        ...store.approvals,
        put: (tenant, place, all) =>
          store.approvals.put(
            tenant,
            place,
            all.map((approval) => {
              const { exact: _, ...kept } = approval
              return { ...kept, pattern: '*' }
            }),
          ),
      },
    }),
  }),
  'tasks that stay when their session goes': () => ({
    plugin: (plugin) => (plugin.id === SUBAGENTS ? { ...plugin, sessionRows: {} } : plugin),
  }),
}
