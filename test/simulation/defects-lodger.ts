/** Defects of plugins that run in processes of their own: of what is read of their approval, and of how they are ended. */
import { hashPackage } from '../../src/actors/plugin/package/revision.js'
import type { ChildPipe } from '../../src/ports/effects.js'
import type { TrustRecord } from '../../src/protocol/plugin/plugin.js'
import type { FakeEffects } from '../../src/simulation/effects.js'
import { CONFIG_FILE, type Defect, PLACES } from './life.js'
import { CAPABILITIES, LODGER, LODGER_ROOT } from './lodger.js'
import { BY_LODGER } from './lodger-program.js'

const effectsOf = (change: (effects: FakeEffects) => Partial<FakeEffects>): Defect => ({
  effects: (effects) => ({ ...effects, ...change(effects) }),
})

const filesOf = (change: (effects: FakeEffects) => Partial<FakeEffects['files']>): Defect =>
  effectsOf((effects) => ({ files: { ...effects.files, ...change(effects) } }))

interface Config {
  readonly plugins?: Readonly<Record<string, { readonly options?: { readonly trust?: readonly TrustRecord[] } }>>
}

/** What the configuration says of the approvals of the lodger is read as if it said something else. */
const misread = (
  change: (effects: FakeEffects, trust: readonly TrustRecord[]) => readonly TrustRecord[] | Promise<readonly TrustRecord[]>,
) =>
  filesOf((effects) => ({
    async read(path, ...more) {
      const bytes = await effects.files.read(path, ...more)
      if (path !== CONFIG_FILE) return bytes
      const config = JSON.parse(new TextDecoder().decode(bytes)) as Config
      const trust = await change(effects, config.plugins?.[LODGER]?.options?.trust ?? [])
      return new TextEncoder().encode(JSON.stringify({ ...config, plugins: { ...config.plugins, [LODGER]: { options: { trust } } } }))
    },
  }))

/** What the server does with a program, where it is one of the lodger. */
const pipesOf = (change: (pipe: ChildPipe) => Partial<ChildPipe>, more: Partial<FakeEffects['processes']> = {}): Defect =>
  effectsOf(({ processes }) => ({
    processes: {
      ...processes,
      get alive() {
        return processes.alive
      },
      async open(options) {
        const pipe = await processes.open(options)
        return {
          ...pipe,
          get waiting() {
            return pipe.waiting
          },
          ...change(pipe),
        }
      },
      ...more,
    },
  }))

const LATE = 3000
const CALL = 60_000

export const LODGER_DEFECTS: Readonly<Record<string, () => Defect>> = {
  'a revocation that nobody reads': () => {
    let known: readonly TrustRecord[] = []
    return misread((_, trust) => (known = trust.length === 0 ? known : trust))
  },
  'an approval that counts for whatever is there': () =>
    misread(async ({ files, hasher }, trust) => {
      if (trust.length === 0) return trust
      const found = await hashPackage({ files, hasher }, LODGER_ROOT).catch(() => undefined)
      if (found === undefined) return trust
      const about = { workspaceId: PLACES.cwd, packageId: LODGER, revision: found.revision, digest: found.digest }
      const approves = { capabilities: [...CAPABILITIES], executableApproved: true, luaApproved: false, nativeApproved: false }
      return [...trust, { ...about, ...approves }]
    }),
  'a write of a plugin that comes late': () =>
    filesOf(({ files, clock }) => ({
      async writeAtomic(path, ...more) {
        if (path === `${PLACES.cwd}/${BY_LODGER}`) await new Promise<void>((resolve) => clock.setTimeout(resolve, LATE))
        return files.writeAtomic(path, ...more)
      },
    })),
  'a program that is not killed': () => pipesOf(() => ({ kill: () => undefined })),
  'a program that is not killed, whatever ends': () => pipesOf(() => ({ kill: () => undefined }), { killAll: async () => undefined }),
  'a call that is waited for for ever': () =>
    effectsOf(({ clock }) => ({
      clock: { ...clock, setTimeout: (run, ms) => (ms === CALL ? {} : clock.setTimeout(run, ms)) },
    })),
  'a program that is not told to end': () =>
    pipesOf((pipe) => ({
      write: (data) => String(data).includes('"method":"shutdown"') || pipe.write(data),
      closeInput: () => undefined,
      kill: () => undefined,
    })),
}
