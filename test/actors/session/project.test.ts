import { describe, expect, it } from 'vitest'
import { createProjects } from '../../../src/actors/session/state/project.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'

describe('a directory without a repository', () => {
  it('is looked at again when it may have become one, not for every call', async () => {
    const effects = createFakeEffects()
    let looks = 0
    const stat = async (path: string) => {
      if (path === '/work/.git') looks += 1
      return effects.files.stat(path)
    }
    const projects = createProjects({ ...effects, files: { ...effects.files, stat } })
    await Promise.all([projects.identify('/work'), projects.identify('/work')])
    expect(await projects.identify('/work')).toMatchObject({ projectId: 'global', approvals: 'global:/work' })
    expect(looks).toBe(1)
    effects.clock.advance(LIMITS.git.absent)
    await projects.identify('/work')
    expect(looks).toBe(2)
  })
})
