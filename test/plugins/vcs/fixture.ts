/** The version control plugin over real repositories, with real git. */
import { onTestFinished } from 'vitest'
import { createGit } from '../../../src/platform/git/program/git-program.js'
import { createNodeProcesses } from '../../../src/platform/node/process/processes.js'
import type { NativeHost } from '../../../src/ports/plugin.js'
import { vcsPlugin } from '../../../src/plugins/vcs/vcs.plugin.js'
import { TRUSTED_CALLER } from '../../../src/protocol/caller.js'
import { vcsRoutes, VcsFileDiff, VcsFileStatus, VcsApplyResult, VcsInfo } from '../../../src/protocol/vcs/vcs.js'
import { createProtectedFiles } from '../../../src/platform/protection/protected-files.js'
import { noDoors } from '../../fakes/doors.js'
import { createFakeEffects } from '../../fakes/effects.js'

export function openVcs(env: Readonly<Record<string, string | undefined>> = {}) {
  const fake = createFakeEffects()
  const PATH = process.env['PATH'] ?? ''
  const real = createNodeProcesses(PATH)
  let most = 0
  const processes = Object.create(real, {
    open: {
      value: async (options: Parameters<typeof real.open>[0]) => {
        const child = await real.open(options)
        most = Math.max(most, real.alive)
        return child
      },
    },
  }) as typeof real
  onTestFinished(() => processes.killAll())
  const effects = { ...fake, processes, childEnv: { PATH }, env }
  const told: { type: string; data: unknown }[] = []
  const { paths, files } = effects
  const host = {
    ...noDoors,
    effects,
    git: createGit(effects),
    rows: {
      ...noDoors.rows,
      commit: <T>(_: string, change: (tx: { emit(type: string, data: unknown): void }) => T) =>
        change({ emit: (type, data) => told.push({ type, data }) }),
    },
    protectedFiles: createProtectedFiles({
      configDirectory: paths.config,
      stateDirectory: paths.state,
      cacheDirectory: paths.cache,
      home: paths.home,
      env: {},
      files,
    }),
  } as unknown as NativeHost
  const { operations = {} } = vcsPlugin().start(host)
  const call = async (id: string, directory: string, body?: unknown): Promise<unknown> => {
    const operation = operations[id]
    if (operation === undefined) throw new Error(`no operation ${id}`)
    return operation({ caller: TRUSTED_CALLER, directory, params: {}, query: {}, headers: {}, body, signal: new AbortController().signal })
  }
  return {
    told,
    /** Programs that ran at the same time. */
    mostAtOnce: () => most,
    running: () => real.alive,
    clock: fake.clock,
    state: paths.state,
    info: async (directory: string) => VcsInfo.parse(await call(vcsRoutes.get.id, directory)),
    status: async (directory: string) => VcsFileStatus.array().parse(await call(vcsRoutes.status.id, directory)),
    diff: async (directory: string) => VcsFileDiff.array().parse(await call(vcsRoutes.diff.id, directory)),
    raw: async (directory: string) => Buffer.from((await call(vcsRoutes.rawDiff.id, directory)) as Uint8Array),
    apply: async (directory: string, patch: string) => VcsApplyResult.parse(await call(vcsRoutes.apply.id, directory, { patch })),
  }
}
