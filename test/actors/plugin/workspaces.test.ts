import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createWorkspaces } from '../../../src/actors/plugin/package/workspaces.js'
import { createSnapshots } from '../../../src/actors/resource/snapshots.js'
import { createFakeEffects } from '../../fakes/effects.js'

it('a plugin directory that is watched stays watched while another one does not exist yet, so that no change falls between', async () => {
  const effects = createFakeEffects()
  const directory = effects.paths.cwd
  const project = join(directory, '.svc/plugins')
  const begun: string[] = []
  const ended: string[] = []
  const files: typeof effects.files = {
    ...effects.files,
    async watch(root) {
      if ((await effects.files.stat(root)) === undefined) return undefined
      begun.push(root)
      return () => void ended.push(root)
    },
  }
  const workspaces = createWorkspaces({
    effects: { ...effects, files },
    snapshots: createSnapshots(effects),
    look: async () => ({ perSession: false }),
    onIdle: () => undefined,
  })
  for (let look = 0; look < 3; look++) await workspaces.refresh(directory)
  expect({ begun, ended }).toEqual({ begun: [effects.paths.config], ended: [] })
  mkdirSync(project, { recursive: true })
  await workspaces.refresh(directory)
  expect({ begun, ended }).toEqual({ begun: [effects.paths.config, project], ended: [] })
  workspaces.stop()
  expect(ended).toEqual([effects.paths.config, project])
})
