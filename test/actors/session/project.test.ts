// Holds sessions-events §2.6.
import { describe, expect, it } from 'vitest'
import { createProjects } from '../../../src/actors/session/state/project.js'
import { LIMITS } from '../../../src/protocol/limits.js'
import { createFakeEffects } from '../../fakes/effects.js'

describe('a directory without a repository', () => {
  it('is looked at again when it may have become one, not for every call', async () => {
    const effects = createFakeEffects()
    let looks = 0
    const stat = async (path: string) => {
      if (path === '/project/.git') looks += 1
      return effects.files.stat(path)
    }
    const projects = createProjects({ ...effects, files: { ...effects.files, stat } })
    await Promise.all([projects.identify('/project'), projects.identify('/project')])
    expect(await projects.identify('/project')).toMatchObject({ projectId: 'global', approvals: 'global:/project' })
    expect(looks).toBe(1)
    effects.clock.advance(LIMITS.git.absent)
    await projects.identify('/project')
    expect(looks).toBe(2)
  })
})
